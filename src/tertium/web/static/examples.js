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
