"""YAML of deploy/, read strictly."""
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


class Strict(yaml.SafeLoader):
    """Refuses duplicate keys, which YAML forbids but PyYAML does not notice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for i, key in enumerate(keys):
            if key in keys[:i]:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def load_all(text):
    return list(yaml.load_all(text, Strict))


def load(path):
    [document] = load_all(path.read_text())
    return document
