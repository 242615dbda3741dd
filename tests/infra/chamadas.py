"""Which AWS actions a Lambda handler can reach, read from the source without running it.

From the handler's function the walk follows every call, by name, through the modules the handler imports. It is a
static approximation: methods of one name are all followed when their classes are used, so it may see an action too
many, never one too few, as long as AWS is called through a boto3 client's method, a paginator named by a string, or a
library of ``LIBRARIES``.
"""

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import botocore.session
from botocore import xform_name

# IAM prefix by boto3 service; only services this system speaks to, so that a method name means one thing.
SERVICES = {
    "dynamodb": "dynamodb",
    "dynamodbstreams": "dynamodb",
    "sqs": "sqs",
    "sns": "sns",
    "ssm": "ssm",
    "stepfunctions": "states",
}

# Actions of a library class that calls AWS by itself. Powertools' idempotency asks for the refused item with the write
# (ReturnValuesOnConditionCheckFailure), so it never reads it.
LIBRARIES = {
    "SSMProvider": {"ssm:GetParameter"},
    "DynamoDBPersistenceLayer": {"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
}

# Operations that are not actions: IAM checks what they do to each item.
COMPOSED = ("dynamodb:TransactWriteItems", "dynamodb:TransactGetItems")
COMPOSED_PARTS = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
    "Get": "dynamodb:GetItem",
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def operations() -> dict[str, str]:
    """IAM action by boto3 method name (``put_item`` -> ``dynamodb:PutItem``)."""
    session = botocore.session.get_session()
    return {
        xform_name(operation): f"{prefix}:{operation}"
        for service, prefix in SERVICES.items()
        for operation in session.get_service_model(service).operation_names
    }


def _imports(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def modules_of(root: Path, module: str) -> dict[str, ast.Module]:
    """The module and every module under ``root`` it imports, directly or not, parsed."""
    found: dict[str, ast.Module] = {}
    pending = [module]
    while pending:
        name = pending.pop()
        path = root / f"{name.replace('.', '/')}.py"
        if name in found or not path.is_file():
            continue
        found[name] = ast.parse(path.read_text())
        pending.extend(_imports(found[name]))
    return found


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Like :func:`ast.walk`, without annotations: naming a type in one calls nothing."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _code(part)


def _is_route(node: Definition) -> bool:
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(isinstance(decorator, ast.Attribute) for decorator in decorators)


class _Walk:
    """What can run, followed by name: a method counts only once its class is named by something that runs."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self.actions: set[str] = set()
        self._functions: defaultdict[str, list[ast.AST]] = defaultdict(list)
        self._classes: defaultdict[str, list[ast.ClassDef]] = defaultdict(list)
        self._methods: defaultdict[str, list[ast.AST]] = defaultdict(list)
        self._attributes: set[str] = set()
        self._seen: set[int] = set()
        self._pending: list[ast.AST] = []
        for tree in trees:
            inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self._classes[node.name].append(node)
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and id(node) not in inside:
                    self._functions[node.name].append(node)

    def run(self, entry: Iterable[ast.AST]) -> set[str]:
        """Follow everything ``entry`` reaches and return the actions met."""
        self._pending.extend(entry)
        while self._pending:
            node = self._pending.pop()
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            if isinstance(node, ast.ClassDef):
                self._open_class(node)
            else:
                self._read(node)
        if self.actions & set(COMPOSED):
            self.actions = (self.actions - set(COMPOSED)) | {
                action for node_id, action in self._composed if node_id in self._seen
            }
        return self.actions

    @property
    def _composed(self) -> list[tuple[int, str]]:
        nodes = [*itertools.chain(*self._functions.values()), *itertools.chain(*self._methods.values())]
        return [
            (id(node), COMPOSED_PARTS[key.value])
            for node in nodes
            for part in ast.walk(node)
            if isinstance(part, ast.Dict)
            for key in part.keys
            if isinstance(key, ast.Constant) and key.value in COMPOSED_PARTS
        ]

    def _open_class(self, node: ast.ClassDef) -> None:
        """Making an object runs its constructor; its other methods run when something that runs names them."""
        self._pending.extend([*node.bases, *node.decorator_list])
        for part in node.body:
            if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                self._pending.append(part)
                continue
            self._methods[part.name].append(part)
            decorated = bool(part.decorator_list)  # a property, a validator: run without being called
            if part.name.startswith("__") or decorated or part.name in self._attributes:
                self._pending.append(part)

    def _read(self, node: ast.AST) -> None:
        for part in _code(node):
            if isinstance(part, ast.Name):
                self._meet(part.id)
            elif isinstance(part, ast.Attribute):
                self._attributes.add(part.attr)
                self._pending.extend(self._methods.get(part.attr, []))
                self._meet(part.attr)
            elif isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "get_paginator":
                names = [a.value for a in part.args if isinstance(a, ast.Constant)]
                self.actions |= {operations()[name] for name in names if name in operations()}

    def _meet(self, name: str) -> None:
        known = [*self._functions.get(name, []), *self._classes.get(name, [])]
        self._pending.extend(known)
        if not known and name not in self._methods and name in operations():
            self.actions.add(operations()[name])
        self.actions |= LIBRARIES.get(name, set())


def actions_of(root: Path, handler: str) -> set[str]:
    """IAM actions reachable from a handler, among the services of ``SERVICES``.

    Parameters
    ----------
    root : Path
        Folder the handler's module path starts at.
    handler : str
        ``package.module.function``, as template.yaml writes it.

    Raises
    ------
    FileNotFoundError
        If the handler's module does not exist.
    """
    module, function = handler.rsplit(".", 1)
    trees = modules_of(root, module)
    if module not in trees:
        raise FileNotFoundError(f"{handler}: no such module under {root}")
    # A module's own statements run when it is imported, and a route (``@app.get("/x")``) when its request comes.
    entry = [
        node for tree in trees.values() for node in tree.body if not isinstance(node, Definition) or _is_route(node)
    ]
    entry += [node for node in trees[module].body if isinstance(node, Definition) and node.name == function]
    return _Walk(trees.values()).run(entry)
