"""Who calls whom in our own code, as far as annotations and assignments tell.

A call is followed
- to the method of the class that its receiver has by annotation, assignment or construction;
- to nothing, when the receiver's class is known and not ours;
- to every method of that name, when the receiver's class cannot be told;
- to every function that the module hands over as a value, when what is called is a parameter or an attribute that holds a function.
So a call may be followed too far, hardly ever not far enough.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.rules.source import Module, called

Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True, kw_only=True, eq=False)
class Function:
    module: Module
    node: Node
    owner: str | None
    outer: "Function | None" = None
    inner: dict[str, "Function"] = field(default_factory=dict)
    locals: dict[str, str | None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        name = "lambda" if isinstance(self.node, ast.Lambda) else self.node.name
        return f"{self.owner}.{name}" if self.owner else name

    def nodes(self) -> Iterator[ast.AST]:
        """Everything inside, lambdas and inner functions too: whatever a function makes may run while it does."""
        return ast.walk(self.node)

    def local(self, name: str) -> tuple[bool, str | None]:
        """Whether the name is a parameter or variable here or around here, and its class where that can be told."""
        if name in self.locals:
            return True, self.locals[name]
        return self.outer.local(name) if self.outer else (False, None)

    def inner_function(self, name: str) -> "Function | None":
        return self.inner.get(name) or (self.outer.inner_function(name) if self.outer else None)


@dataclass(slots=True, kw_only=True)
class Kind:
    """A class: its methods, and the classes of its attributes."""

    name: str
    bases: tuple[str, ...]
    methods: dict[str, Function] = field(default_factory=dict)
    attributes: dict[str, str | None] = field(default_factory=dict)


class CallGraph:
    def __init__(self, modules: Iterable[Module]) -> None:
        self.functions: list[Function] = []
        self.kinds: dict[str, Kind] = {}
        self._modules: dict[str, dict[str, Function]] = {}
        self._handed: dict[str, list[Function]] = {}
        self._imported: dict[str, dict[str, str]] = {}
        for module in modules:
            self._modules[module.path] = {}
            self._imported[module.path] = _imported(module)
            self._add(module, module.tree, None, None)
        for function in self.functions:
            self._learn_locals(function)
        for function in self.functions:
            self._learn_attributes(function)
        for function in self.functions:
            values = (
                argument for node in function.nodes() if isinstance(node, ast.Call) for argument in (*node.args, *(keyword.value for keyword in node.keywords))
            )
            self._handed.setdefault(function.module.path, []).extend(found for value in values for found in self.value(value, function))

    def function_of(self, node: ast.AST) -> Function | None:
        return next((function for function in self.functions if function.node is node), None)

    def targets(self, call: ast.Call, function: Function) -> list[Function]:
        """What the call may run."""
        if isinstance(call.func, ast.Attribute):
            return self._method_targets(call.func, function)
        if isinstance(call.func, ast.Name):
            return self._name_targets(call.func.id, function)
        return self.value(call.func, function)

    def value(self, node: ast.expr, function: Function) -> list[Function]:
        """The functions that an expression stands for: a name, a bound method, a lambda, a partial, or an object that can be called."""
        if isinstance(node, ast.Lambda):
            return [found for found in [self.function_of(node)] if found]
        if isinstance(node, ast.Call) and called(node) == "partial" and node.args:
            return self.value(node.args[0], function)
        if isinstance(node, ast.Name):
            named = function.inner_function(node.id) or self._modules[function.module.path].get(node.id)
            if named:
                return [named]
        kind = self.kind_of(node, function)
        if kind is not None:
            return self._methods(kind, "__call__")
        if isinstance(node, ast.Attribute):
            return self._methods(self.kind_of(node.value, function), node.attr)
        return []

    def kind_of(self, node: ast.expr, function: Function) -> str | None:
        """The class of an expression, ours or not; None where it cannot be told."""
        if isinstance(node, ast.Name):
            is_local, kind = function.local(node.id)
            return kind if is_local else node.id if node.id in self.kinds else self._imported[function.module.path].get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.kind_of(node.value, function)
            return self._attribute(owner, node.attr) if owner in self.kinds else owner
        if isinstance(node, ast.Call):
            return self._made(node, function)
        return None

    def _made(self, node: ast.Call, function: Function) -> str | None:
        if isinstance(node.func, ast.Name):
            return node.func.id if node.func.id[:1].isupper() else None
        if not isinstance(node.func, ast.Attribute):
            return None
        owner = self.kind_of(node.func.value, function)
        if owner not in self.kinds:
            return owner
        return next((_annotated(method.node.returns) for method in self._methods(owner, node.func.attr) if not isinstance(method.node, ast.Lambda)), None)

    def _method_targets(self, target: ast.Attribute, function: Function) -> list[Function]:
        owner = self.kind_of(target.value, function)
        if owner is None:
            return [kind.methods[target.attr] for kind in self.kinds.values() if target.attr in kind.methods]
        if owner not in self.kinds:
            return []
        return self._methods(owner, target.attr) or self._handed.get(function.module.path, [])

    def _name_targets(self, name: str, function: Function) -> list[Function]:
        if name in self.kinds:
            return self._methods(name, "__init__")
        named = function.inner_function(name) or self._modules[function.module.path].get(name)
        if named:
            return [named]
        is_local, kind = function.local(name)
        if is_local:
            return self._methods(kind, "__call__") or self._handed.get(function.module.path, [])
        return [functions[name] for functions in self._modules.values() if name in functions]

    def _methods(self, kind: str | None, name: str) -> list[Function]:
        found = self.kinds.get(kind or "")
        if found is None:
            return []
        return [found.methods[name]] if name in found.methods else [method for base in found.bases for method in self._methods(base, name)]

    def _attribute(self, kind: str | None, name: str) -> str | None:
        found = self.kinds.get(kind or "")
        if found is None:
            return None
        if name in found.attributes:
            return found.attributes[name]
        return next((known for base in found.bases if (known := self._attribute(base, name))), None)

    def _add(self, module: Module, node: ast.AST, owner: str | None, outer: Function | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self._add_kind(module, child)
            elif isinstance(child, Node):
                self._add_function(module, child, owner, outer, is_method=isinstance(node, ast.ClassDef))
            else:
                self._add(module, child, owner, outer)

    def _add_kind(self, module: Module, node: ast.ClassDef) -> None:
        fields = {
            member.target.id: _annotated(member.annotation) for member in node.body if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
        }
        self.kinds[node.name] = Kind(name=node.name, bases=tuple(filter(None, map(_annotated, node.bases))), attributes=fields)
        self._add(module, node, node.name, None)

    def _add_function(self, module: Module, node: Node, owner: str | None, outer: Function | None, *, is_method: bool) -> None:
        function = Function(module=module, node=node, owner=owner, outer=outer)
        self.functions.append(function)
        if not isinstance(node, ast.Lambda):
            if is_method and owner:
                self.kinds[owner].methods[node.name] = function
                if any(ast.unparse(decorator).endswith("property") for decorator in node.decorator_list):
                    self.kinds[owner].attributes[node.name] = _annotated(node.returns)
            elif outer:
                outer.inner[node.name] = function
            else:
                self._modules[module.path][node.name] = function
        self._add(module, node, owner, function)

    def _learn_locals(self, function: Function) -> None:
        arguments = function.node.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            function.locals[parameter.arg] = function.owner if parameter.arg in {"self", "cls"} else _annotated(parameter.annotation)
        for node in function.nodes():
            if isinstance(node, ast.Assign):
                for target, value in _pairs(node.targets[0], node.value):
                    if isinstance(target, ast.Name):
                        function.locals[target.id] = self.kind_of(value, function)
            elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                function.locals[node.optional_vars.id] = None

    def _learn_attributes(self, function: Function) -> None:
        if function.owner not in self.kinds:
            return
        for node in function.nodes():
            if not isinstance(node, ast.Assign):
                continue
            for target, value in _pairs(node.targets[0], node.value):
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                    self.kinds[function.owner].attributes.setdefault(target.attr, self.kind_of(value, function))


def _imported(module: Module) -> dict[str, str]:
    """What the module's imports are called, each as a class of that name; a module has no methods of ours."""
    names = [alias for node in ast.walk(module.tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    return {(alias.asname or alias.name).partition(".")[0]: alias.name.rpartition(".")[2] for alias in names}


def _annotated(annotation: ast.expr | None) -> str | None:
    """The one class that an annotation or a base names; None for lists, callables and the like."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return _annotated(ast.parse(annotation.value, mode="eval").body)
    if isinstance(annotation, ast.BinOp):
        sides = [_annotated(side) for side in (annotation.left, annotation.right)]
        return sides[0] or sides[1]
    name = annotation.attr if isinstance(annotation, ast.Attribute) else annotation.id if isinstance(annotation, ast.Name) else None
    return name if name and name[:1].isupper() else None


def _pairs(target: ast.expr, value: ast.expr) -> Sequence[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
