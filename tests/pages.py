"""A page of HTML as tests read it."""

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """The words of a page, its tags, links, anchors and charts, and what it would load from elsewhere.

    `open` has the tags that are not closed, and those that are closed without being open.
    """

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.names, self.links, self.loads = [], [], [], [], []
        self.words, self.scripts, self.styles, self.specs = [], [], "", {}
        self.open, self.chart = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = {name: value for name, value in attributes if value}
        self.tags.append(tag)
        self.open.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.names += [values["name"]] if "name" in values else []
        self.chart = values.get("id", "") if values.get("type") == "application/json" else ""
        if tag == "a":
            self.links += [values["href"]] if "href" in values else []
        else:
            self.loads += [values[name] for name in ("src", "href", "data", "action") if name in values]

    def handle_endtag(self, tag):
        if self.open[-1:] == [tag]:
            self.open.pop()
        else:
            self.open.append(f"/{tag}")

    def handle_data(self, text):
        inside = self.open[-1] if self.open else ""
        if inside == "style":
            self.styles += text
        elif inside != "script":
            self.words.append(text)
        elif self.chart:
            self.specs[self.chart.removesuffix("-spec")] = json.loads(text)  # as it is handed to Vega
        else:
            self.scripts.append(text)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
