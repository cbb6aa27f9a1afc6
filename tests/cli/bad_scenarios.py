"""Wrong scenarios: each ends with one message that says where and what, exit code 2, no hang."""
# processors: 1

from _shardlab import SOURCE, TINY, Place, check, expect_error, main

GOOD = TINY.format(name="tiny", ranks=2, strategy="fsdp2", steps=3)


def refuse(change, *parts, command="simulate"):
    """The good scenario with (old, new) replaced must be refused, the message naming the file and the parts."""
    place = Place()
    old, new = change
    check(old in GOOD, f"'{old}' is not in the scenario of this test")
    scenario = place.scenario(text=GOOD.replace(old, new))
    result = place.run(command, scenario, timeout=30)
    expect_error(result, 2, *parts)
    check(not place.db.exists(), "a refused scenario left a database")
    return result


def test_unknown_key():
    result = refuse(("micro_batch: 2", "micro_btach: 2"), "tiny.yaml:8:9: ", "micro_btach", "did you mean 'micro_batch'?")
    check(result.err.count("\n") <= 2, "more than one message", result)


def test_unknown_section():
    refuse(("measure:", "mesure:"), "tiny.yaml:9:1: ", "mesure", "did you mean 'measure'?")


def test_wrong_type():
    refuse(("micro_batch: 2", "micro_batch: many"), "tiny.yaml:8:22: ", "train.micro_batch", "many")
    refuse(("cluster: {device: cpu, ranks: 2}", "cluster: cpu"), "tiny.yaml:6:10: ", "cluster")


def test_out_of_range():
    refuse(("micro_batch: 2", "micro_batch: 0"), "tiny.yaml:8:22: ", "train.micro_batch")
    refuse(("learning_rate: 1e-3", "learning_rate: -1"), "train.learning_rate")


def test_unknown_name():
    refuse(("strategy: fsdp2", "strategy: fspd2"), "parallel.strategy", "fspd2", "fsdp2")
    refuse(("config: tiny-llama", "config: tiny-lama"), "model.config", "tiny-lama", "did you mean 'tiny-llama'?")


def test_impossible_mesh():
    refuse(("{strategy: fsdp2}", "{strategy: fsdp2, mesh: {shard: 3}}"), "tiny.yaml:7:", "mesh", "3")


def test_what_comes_later_is_refused_by_name():
    refuse(("{strategy: fsdp2}", "{strategy: zero3, zero: {zero_quantized_nontrainable_weights: true}}"), "not supported yet",
           "zero_quantized_nontrainable_weights")


def test_wrong_class_to_wrap():
    refuse(("{strategy: fsdp2}", "{strategy: fsdp2, wrap: {policy: transformer, classes: [LlamaDecoderlayer]}}"),
           "LlamaDecoderlayer", "LlamaDecoderLayer")


def test_teachers():
    def teacher(keys):
        return ("train: {micro", "distillation: {teacher: {config: tiny-llama, " + keys + "}}\ntrain: {micro")

    refuse(teacher("overrides: {vocab_size: 300}"), "distillation.teacher: its vocabulary has 300 entries, the student's 256", "tokenizer")
    refuse(teacher("parallel: {strategy: fsdp2, wrap: {classes: [LlamaDecoderlayer]}}"), "distillation.teacher.parallel.wrap.classes",
           "did you mean 'LlamaDecoderLayer'?")
    refuse(teacher("overrides: {num_attention_heads: 3}"), "num_attention_heads")
    refuse(teacher("parallel: {strategy: ddp}"), "tiny.yaml:8:", "distillation.teacher.parallel.strategy", "use none")


def test_missing_file():
    expect_error(Place().run("simulate", "missing.yaml"), 2, "missing.yaml", "no such file")
    expect_error(Place().run("simulate", "."), 2, "folder")


def test_not_yaml():
    place = Place()
    expect_error(place.run("plan", place.scenario(text="model: [1, 2\ntrain: }")), 2, "tiny.yaml:2:")
    binary = place.path / "binary.yaml"
    binary.write_bytes(bytes(range(256)))
    expect_error(place.run("plan", binary), 2, "binary.yaml")
    expect_error(place.run("plan", place.scenario(text="\n")), 2, "empty")


def test_several_mistakes_are_shown_at_once():
    place = Place()
    text = GOOD.replace("micro_batch: 2", "micro_btach: 2").replace("ranks: 2", "ranks: two")
    result = expect_error(place.run("plan", place.scenario(text=text)), 2, "micro_btach", "cluster.ranks")
    check(result.err.count("error: ") == 2, "not one line a mistake", result)


def test_a_config_of_an_unknown_family():
    place = Place()
    (place.path / "config.json").write_text('{"model_type": "transmogrifier", "hidden_size": 8}')
    text = "\n".join(line for line in GOOD.splitlines() if "overrides" not in line).replace("config: tiny-llama", "config: ./config.json")
    expect_error(place.run("plan", place.scenario(text=text)), 2, "config.json", "transmogrifier", "llama")
    expect_error(place.run("model", place.path / "config.json"), 2, "config.json", "transmogrifier")


def test_a_config_that_is_broken():
    place = Place()
    config = place.path / "config.json"
    for text in ("", "[]", '{"model_type": "llama"}', '{"model_type": "llama", "hidden_size": "wide"}', '{"model_type"'):
        config.write_text(text)
        expect_error(place.run("model", config), 2, "config.json")


def test_a_shape_that_does_not_divide():
    refuse(("num_attention_heads: 4", "num_attention_heads: 5"), "heads")


def test_overrides_are_checked_like_the_file():
    place = Place()
    scenario = place.scenario()
    expect_error(place.run("plan", scenario, "--set", "train.micro_btach=2"), 2, "--set train.micro_btach=2", "micro_batch")
    expect_error(place.run("plan", scenario, "--set", "train.micro_batch=many"), 2, "--set train.micro_batch=many")
    expect_error(place.run("plan", scenario, "--set", "train.micro_batch"), 2, "--set")
    expect_error(place.run("plan", scenario, "--set", "cluster.ranks=0"), 2, "cluster.ranks")


def test_shipped_scenarios_are_good():
    place = Place()
    for file in sorted((SOURCE / "scenarios").rglob("*.yaml")):
        # Search files name a scenario; cli.lessons reads the course, its lessons and words.
        if file.parent.name != "search" and file.name not in ("course.yaml", "lesson.yaml", "words.yaml"):
            result = place.run("scenario", file)
            check(result.code == 0, f"{file} is refused", result)


main(globals())
