"""The type stubs say what the package has: every public name with its parameters."""
import ast
import inspect
import pathlib

import protocom


def parameters_of(node):
    arguments = node.args
    named = [one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    return named + [one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None]


def of_runtime(function):
    given = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in given if one.kind not in several] + [one.name for one in given if one.kind in several]


def public_members(kind):
    members = {name: inspect.unwrap(getattr(value, "__func__", value)) for name, value in vars(kind).items()}
    return {name: value for name, value in members.items()
            if (name == "__init__" or not name.startswith("_")) and (inspect.isfunction(value) or isinstance(value, property))}


def test_every_name_and_parameter_is_in_the_stubs_and_nothing_else():
    stub = ast.parse((pathlib.Path(protocom.__file__).parent / "__init__.pyi").read_text())
    there = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(there) == {name for name in protocom.__all__ if name != "easyfsl"}
    for name, node in there.items():
        value = getattr(protocom, name)
        if isinstance(node, ast.FunctionDef):
            assert parameters_of(node) == of_runtime(value) or name == "make", name
            continue
        stated = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
        members = public_members(value)
        assert {one for one in stated if not one.startswith("_")} == {one for one in members if not one.startswith("_")}, name
        for one, member in members.items():
            if inspect.isfunction(member) and one in stated:
                assert parameters_of(stated[one]) == of_runtime(member), f"{name}.{one}"
