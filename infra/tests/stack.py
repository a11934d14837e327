"""A template as CloudFormation sees it: transformed by SAM's own translator, its intrinsic functions resolved, its parts found.

A resource that is not there yet has a name or ARN that is made of its logical id, so that a test sees what refers to what.
"""

import copy
import json
import logging
import re
from pathlib import Path
from unittest.mock import patch

from samtranslator.parser.parser import Parser
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

# It counts what it does for AWS, and complains that nobody takes the counts.
logging.getLogger("samtranslator").setLevel(logging.ERROR)

ROOT = Path(__file__).resolve().parents[2]
REGION = "eu-central-1"
ACCOUNT = "123456789012"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:alarms"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"

NO_VALUE = object()

# What the template asks for that has no default.
REQUIRED = {
    "JwtIssuer": "https://issuer.example.com/",
    "JwtAudience": "payments",
    "PaymentProviderUrl": "https://provider.example.com",
    "CarrierUrl": "https://carrier.example.com",
    "SummariserUrl": "https://summariser.example.com/",
    "NotifierUrl": "https://notifier.example.com/",
}

PSEUDO = {
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "stack",
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/stack/1",
    "AWS::NoValue": NO_VALUE,
}

ARNS = {
    "AWS::DynamoDB::Table": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/",
    "AWS::SQS::Queue": f"arn:aws:sqs:{REGION}:{ACCOUNT}:",
    "AWS::Lambda::Function": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:",
    "AWS::IAM::Role": f"arn:aws:iam::{ACCOUNT}:role/",
    "AWS::Logs::LogGroup": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:",
    "AWS::S3::Bucket": "arn:aws:s3:::",
}


# Templates that were transformed, by path and parameters: most tests look at the same ones.
TRANSFORMED = {}


class NoPolicies:
    """No managed policy is used, so none is looked up at AWS."""

    def load(self):
        return {}


def source(path):
    """The template as it is written."""
    return yaml_parse((ROOT / path).read_text())


class Stack:
    """A template with these parameters, as it would be deployed."""

    def __init__(self, path, /, **parameters):
        self.path = ROOT / path
        written = source(path)
        self.parameters = {name: self._value(name, spec, parameters) for name, spec in written.get("Parameters", {}).items()}
        unknown = set(parameters) - set(self.parameters)
        assert not unknown, f"{path} has no parameters {unknown}"
        self.template = self._transformed(written)
        self.conditions = {}
        for name, condition in self.template.get("Conditions", {}).items():
            self.conditions[name] = self.resolve(condition)
        there = lambda resource: self.conditions.get(resource.get("Condition"), True)
        self.types = {name: resource["Type"] for name, resource in self.template["Resources"].items()}
        self.resources = {
            name: self.resolve(resource) for name, resource in self.template["Resources"].items() if there(resource)
        }

    @staticmethod
    def _value(name, spec, parameters):
        value = parameters.get(name, spec.get("Default", REQUIRED.get(name)))
        assert value is not None, f"{name} has no value"
        value = str(value)
        if "AllowedPattern" in spec:
            assert re.fullmatch(spec["AllowedPattern"], value), f"{name} may not be {value}"
        if "AllowedValues" in spec:
            assert value in [str(allowed) for allowed in spec["AllowedValues"]], f"{name} may not be {value}"
        for bound, out in [("MinValue", lambda least: float(value) < least), ("MaxValue", lambda most: float(value) > most)]:
            assert bound not in spec or not out(spec[bound]), f"{name} may not be {value}"
        return value.split(",") if spec["Type"] == "CommaDelimitedList" else value

    def _transformed(self, written):
        if "Transform" not in written:
            return written
        for resource in written["Resources"].values():
            # Where `sam deploy` puts the code.
            if resource["Type"] == "AWS::Serverless::Function":
                resource["Properties"]["CodeUri"] = "s3://bucket/code.zip"
        values = {name: ",".join(value) if isinstance(value, list) else value for name, value in self.parameters.items()}
        known = (self.path, *sorted(values.items()))
        if known not in TRANSFORMED:
            with patch.dict("os.environ", {"AWS_DEFAULT_REGION": REGION}):
                TRANSFORMED[known] = transform(written, values, NoPolicies())
        return copy.deepcopy(TRANSFORMED[known])

    def of_type(self, kind):
        """The resources of a type, by logical id."""
        return {name: resource["Properties"] for name, resource in self.resources.items() if resource["Type"] == kind}

    def parts(self):
        """The nested stacks, by logical id, each with the parameters that it is given."""
        parts = {}
        for name, properties in self.of_type("AWS::CloudFormation::Stack").items():
            path = (self.path.parent / properties["TemplateURL"]).relative_to(ROOT)
            given = properties["Parameters"]
            parts[name] = Stack(path, **given)
        return parts

    def resolve(self, value):
        """The value without intrinsic functions."""
        if isinstance(value, list):
            return [item for item in map(self.resolve, value) if item is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, argument), = value.items()
            if name in ("Ref", "Condition") and isinstance(argument, str):
                return self._ref(argument) if name == "Ref" else self.conditions[argument]
            if name.startswith("Fn::"):
                return getattr(self, "_" + name.removeprefix("Fn::").lower())(argument)
        resolved = {name: self.resolve(item) for name, item in value.items()}
        return {name: item for name, item in resolved.items() if item is not NO_VALUE}

    def _ref(self, name):
        if name in PSEUDO:
            return PSEUDO[name]
        if name in self.parameters:
            return self.parameters[name]
        assert name in self.types, f"{self.path.name} refers to {name}, which is not there"
        return f"https://sqs/{name}" if self.types[name] == "AWS::SQS::Queue" else name

    def _getatt(self, argument):
        name, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
        assert name in self.types, f"{self.path.name} refers to {name}, which is not there"
        kind = self.types[name]
        if attribute == "StreamArn":
            return f"{ARNS[kind]}{name}/stream/now"
        if attribute == "Arn" and kind in ARNS:
            return ARNS[kind] + name + (":*" if kind == "AWS::Logs::LogGroup" else "")
        if attribute == "QueueName":
            return name
        return f"{name}.{attribute}"

    def _sub(self, argument):
        text, names = (argument, {}) if isinstance(argument, str) else argument
        names = {name: self.resolve(value) for name, value in names.items()}

        def put(match):
            name = match.group(1)
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            if name in names:
                return str(names[name])
            return str(self._getatt(name) if "." in name else self._ref(name))

        return re.sub(r"\$\{([^}]+)\}", put, text)

    def _join(self, argument):
        separator, items = argument
        return separator.join(map(str, self.resolve(items)))

    def _if(self, argument):
        condition, then, otherwise = argument
        return self.resolve(then if self.conditions[condition] else otherwise)

    def _equals(self, argument):
        left, right = (str(self.resolve(side)) for side in argument)
        return left == right

    def _not(self, argument):
        return not self.resolve(argument[0])

    def _importvalue(self, argument):
        return "import:" + self.resolve(argument)


def json_body(text):
    """A JSON document in which no member stands twice."""

    def members(pairs):
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), f"twice: {names}"
        return dict(pairs)

    return json.loads(text, object_pairs_hook=members)
