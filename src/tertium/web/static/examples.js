// Pairs to try. A test runs each, and compares the verdict with what is true.

export const EXAMPLES = {
  "A phrase left out": {
    a: "I have lost my keys.", b: "Ich habe meine Schlüssel im Garten verloren.", la: "en", lb: "de", level: "different",
  },
  "A right translation": {
    a: "The museum is closed on Mondays.", b: "Das Museum ist montags geschlossen.", la: "en", lb: "de", level: "same",
  },
  "A wrong number": {
    a: "Take 15 drops three times a day.", b: "Prenez 50 gouttes trois fois par jour.", la: "en", lb: "fr", level: "different",
  },
  "A paraphrase": {
    a: "The train was late because of the snow.", b: "Because of the snow, the train was delayed.", la: "en", lb: "en", level: "same",
  },
  "An opposite": {
    a: "The shop opens at six o'clock on Sundays.", b: "The shop closes at six o'clock on Sundays.", la: "en", lb: "en", level: "different",
  },
  "Another animal": { a: "I see a dog in the garden.", b: "I see a cat in the garden.", la: "en", lb: "en", level: "unsure" },
};

export const PAIRS = `hyp\tref\tlang\tref_lang
I have lost my keys.\tIch habe meine Schlüssel verloren.\ten\tde
Take 15 drops three times a day.\tPrenez 50 gouttes trois fois par jour.\ten\tfr
The museum is closed on Mondays.\tDas Museum ist montags geschlossen.\ten\tde
I see a dog.\tIch sehe einen Hund auf der Straße.\ten\tde
My sister lives in Madrid.\tMi hermana vive en Barcelona.\ten\tes
She bought a new car yesterday.\tYesterday she bought a new car.\ten\ten
Where did you learn French?\tDas Fenster ist offen.\ten\tde
`;

export const SYSTEMS = {
  references: "The weather is nice today.\nHe has lost his key.\nWe are going to the cinema tonight.\nThe bridge was built in 1931.\nShe does not eat meat.\nWhere is the nearest pharmacy?",
  sources: "Das Wetter ist heute schön.\nEr hat seinen Schlüssel verloren.\nWir gehen heute Abend ins Kino.\nDie Brücke wurde 1931 gebaut.\nSie isst kein Fleisch.\nWo ist die nächste Apotheke?",
  systems: {
    careful: "The weather is nice today.\nHe lost his key.\nWe are going to the movies tonight.\nThe bridge was built in 1931.\nShe doesn't eat meat.\nWhere is the nearest pharmacy?",
    hasty: "The weather was bad today.\nHe has found his key.\nWe go cinema.\nThe bridge was built in 1913.\nShe eats meat.\nWhere is a shop?",
  },
};
