"""`explain WORD`: every word of the glossary with what shows it; docs/glossary.md is what the program prints."""
import re

from _shardlab import SOURCE, Place, check, check_fields, expect, expect_error, main

WORDS = SOURCE / "scenarios/lessons/words/words.yaml"


def names():
    for found in re.finditer(r"- word: (.*)", WORDS.read_text()):
        yield [name.strip(" '\"") for name in found.group(1).strip("[]").split(",")]


def test_the_glossary_is_what_the_program_prints():
    printed = expect(Place().run("explain", "--document"), 0).out
    check(printed == (SOURCE / "docs/glossary.md").read_text(), "write `shardlab explain --document` to docs/glossary.md")


def test_every_word_is_shown():
    place, words = Place(), list(names())
    check(len(words) > 40, f"{len(words)} words")
    for each in words:
        document = expect(place.run("explain", *each[0].split(), "--json"), 0).json()
        check_fields(document, {"words": "list", "meaning": "text", "picture": "text", "lessons": "list"})
        check(document["words"] == each and document["meaning"], document)
        check(len(document["picture"].splitlines()) >= 3, f"nothing shows {each[0]}", document["picture"])
    check(not place.db.exists(), "explaining made a database")


def test_a_word_names_its_lessons():
    place = Place()
    text = expect(place.run("explain", "Reduce-Scatter"), 0).out
    check(text.startswith("reduce-scatter: all ranks' tensors are added") and "ReduceScatter" in text, text)
    check(re.search(r"^lesson 0\d: ", text, re.MULTILINE), text)
    check(expect(place.run("explain", "all-gather"), 0).out == expect(place.run("explain", "gather"), 0).out, "two names of one word")


def test_bad_input():
    place = Place()
    expect_error(place.run("explain", "reduce-scater"), 2, "'reduce-scater' is no word of the glossary", "did you mean 'reduce-scatter'?")
    expect_error(place.run("explain", "warp", "drive"), 2, "'warp drive' is no word of the glossary", "explain --document")
    expect_error(place.run("explain", "rank", "--document"), 2, "--document")
    expect_error(place.run("explain", "rank", "--set", "train.micro_batch=2"), 2, "a word has no settings")


main(globals())
