"""The modules become one script without changing what they mean."""

from __future__ import annotations

import pytest

from clearhead.page import bundle


@pytest.fixture
def web(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "WEB", tmp_path)
    bundle.script.cache_clear()
    yield lambda **files: [(tmp_path / f"{name}.js").write_text(text) for name, text in files.items()]
    bundle.script.cache_clear()


def test_a_module_comes_after_those_it_imports(web):
    web(
        main='import { b } from "./b.js";\nb();\n',
        b='import { a as first } from "./a.js";\nexport function b() {\n  return first;\n}\n',
        a="export const a = 1;\n",
    )
    made = bundle.script()
    assert made.index('modules["a.js"] =') < made.index('modules["b.js"] =') < made.index('modules["main.js"] =')
    assert 'const { a: first } = modules["a.js"];' in made
    assert "return { b };" in made
    assert "import {" not in made


def test_comments_are_left_out_and_nothing_else(web):
    web(
        main="// a module\n/**\n * What it does.\n * @param {number} x\n */\nfunction f(x) {\n  // why\n"
        '  const y = /** @type {number} */ (x); // beside\n  return "http://a" + y / 2; \n}\nf(1);\n',
    )
    kept = 'function f(x) {\n  const y = (x); // beside\n  return "http://a" + y / 2; \n}\nf(1);\n'
    assert f'modules["main.js"] = (() => {{\n{kept}\nreturn' in bundle.script()


def test_the_front_end_stays_small():
    assert len(bundle.script().encode()) + len(bundle.style().encode()) < 200_000


def test_a_circle_is_refused(web):
    web(main='import { b } from "./b.js";\n', b='import { x } from "./main.js";\n')
    with pytest.raises(ValueError, match=r"in a circle: main\.js → b\.js → main\.js"):
        bundle.script()


@pytest.mark.parametrize("line", ['import * as all from "./a.js";', "export default 1;", "export { a };"])
def test_a_line_that_one_script_cannot_hold_is_refused(web, line):
    web(main=f"{line}\n", a="export const a = 1;\n")
    with pytest.raises(ValueError, match=r"main\.js has a line that one script cannot hold"):
        bundle.script()


def test_a_text_that_ends_a_script_is_refused(web):
    web(main='const x = "</script>";\n')
    with pytest.raises(ValueError, match="would end its script early"):
        bundle.script()


def test_the_front_end_fetches_nothing():
    made = bundle.script()
    assert "http" not in made.replace("http://www.w3.org/2000/svg", "")
    assert "innerHTML" not in made
    assert "@import" not in bundle.style()
    assert "url(" not in bundle.style()
