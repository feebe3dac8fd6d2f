"""The measures over HTTP: a web page and a JSON API (extra: ``web``)."""
