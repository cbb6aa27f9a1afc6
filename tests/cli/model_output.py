"""`model` and `models`: fields, the parameter count of a published size, names as in the checkpoint."""
# processors: 1

import json

from _shardlab import Place, check, check_fields, expect, expect_error, main

OPERATOR_FIELDS = {"id": "int", "kind": "text", "module": "text", "outputs": "list", "forward_flops": "int", "backward_flops": "int",
                   "forward_bytes": "int", "backward_bytes": "int", "keeps_bytes": "int"}


def test_fields_and_their_types():
    document = expect(Place().run("model", "tiny-llama", "--json"), 0).json()
    check_fields(document, {"parameters": "map", "modules": "list", "operators": "list", "family": "text", "layers": "int"})
    check_fields(document["parameters"], {"total": "int", "active": "int", "per_layer": "int", "trainable": "int"}, "parameters")
    for module in document["modules"]:
        check_fields(module, {"path": "text", "class": "text", "parameters": "list"}, "modules")
        for parameter in module["parameters"]:
            check_fields(parameter, {"name": "text", "shape": "list", "dtype": "text", "tied": "bool"}, "parameters")
    for operator in document["operators"]:
        check_fields(operator, OPERATOR_FIELDS, "operators")


def test_published_sizes():
    # Counts that the model cards and the safetensors indices of the checkpoints give.
    for name, total in (("llama-2-7b", 6738415616), ("llama-3-8b", 8030261248), ("llama-3-70b", 70553706496), ("llama-3.2-1b", 1235814400)):
        document = expect(Place().run("model", name, "--json"), 0).json()
        check(document["parameters"]["total"] == total, f"{name}: {document['parameters']['total']}")


def test_experts_that_a_token_uses():
    document = expect(Place().run("model", "qwen3-30b-a3b", "--json"), 0).json()
    check(document["parameters"]["total"] == 30532122624 and document["parameters"]["active"] == 3353032704, f"{document['parameters']}")


def test_adapters_are_what_is_trained():
    place = Place()
    lora = ("--set", "model.lora={rank: 16, targets: [q_proj, v_proj]}")
    document = expect(place.run("model", "llama-3-8b", "--json", *lora), 0).json()
    check(document["parameters"]["trainable"] == 6815744, f"{document['parameters']}")
    check(document["parameters"]["total"] == 8030261248 + 6815744, f"{document['parameters']}")
    text = expect(place.run("model", "llama-3-8b", *lora), 0).out
    check("(6,815,744 trained, 0.08 %; 8,030,261,248 frozen)" in text, text[:200])
    expect_error(place.run("model", "llama-3-8b", "--set", "model.lora={rank: 4, targets: [q_prj]}"), 2, "did you mean 'q_proj'?")


def test_names_and_order_of_the_checkpoint():
    document = expect(Place().run("model", "llama-3-8b", "--json"), 0).json()
    names = [p["name"] for module in document["modules"] for p in module["parameters"]]
    layer = "model.layers.0."
    check(names[:10] == ["model.embed_tokens.weight"] + [layer + part + ".weight" for part in (
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
        "mlp.down_proj", "input_layernorm", "post_attention_layernorm")], f"{names[:10]}")
    check(names[-2:] == ["model.norm.weight", "lm_head.weight"], f"{names[-2:]}")
    check(len(names) == 291, f"{len(names)} tensors")


def test_a_tied_head_counts_once():
    document = expect(Place().run("model", "llama-3.2-1b", "--json"), 0).json()
    head = [p for module in document["modules"] if module["path"] == "lm_head" for p in module["parameters"]]
    check(len(head) == 1 and head[0]["tied"] and head[0]["name"] == "model.embed_tokens.weight", f"{head}")


def test_shapes_follow_the_options():
    place = Place()
    document = expect(place.run("model", "tiny-llama", "--json", "--sequence-length", "64", "--micro-batch", "3"), 0).json()
    check(document["sequence_length"] == 64 and document["micro_batch"] == 3, "options are not used")
    check(document["operators"][0]["outputs"][0][:2] == [3, 64], f"{document['operators'][0]}")
    document = expect(place.run("model", "tiny-llama", "--json", "--set", "model.overrides.num_hidden_layers=2"), 0).json()
    check(document["layers"] == 2, "--set is not used")


def test_text_and_other_ways_to_name_a_model():
    place = Place()
    text = expect(place.run("model", "tiny-llama"), 0).out
    for part in ("LlamaForCausalLM", "LlamaDecoderLayer", "q_proj"):
        check(part in text, f"'{part}' is not in:\n{text}")
    scenario = place.scenario()
    check(expect(place.run("model", scenario, "--json"), 0).json()["sequence_length"] == 32, "a scenario's model")


def test_names_of_the_hub():
    place = Place()
    for name, shipped in (("meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b"), ("openai-community/gpt2", "gpt2")):
        same = [expect(place.run("model", each, "--json"), 0).json() for each in (name, shipped)]
        check(same[0] == same[1], f"{name} is not {shipped}")
    simulated = expect(place.run("simulate", place.scenario(), "--json", "--set", "model.config=Qwen/Qwen3-0.6B", "--set", "model.overrides={}"), 0)
    check(simulated.json()["memory"]["peak_allocated"] > 4 * 596_049_920, "a small model")
    shape = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 256,
             "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
    (place.path / "openai-community/gpt2").mkdir(parents=True)
    (place.path / "openai-community/gpt2/config.json").write_text(json.dumps(shape))
    for own in ("openai-community/gpt2", "openai-community/gpt2/config.json", "./openai-community/gpt2"):
        check(expect(place.run("model", own, "--json"), 0).json()["layers"] == 2, f"{own}: the folder that is there does not win")
    expect_error(place.run("model", "Qwen/Qwen3-9B"), 2, "Qwen/Qwen3-9B", "the nearest that ships is Qwen/Qwen3-8B (qwen3-8b)", "hf download")


def test_unknown_models():
    place = Place()
    expect_error(place.run("model", "lama-3-8b"), 2, "lama-3-8b", "llama-3-8b")
    expect_error(place.run("model", "./missing.json"), 2, "missing.json")
    expect_error(place.run("model", "tiny-llama", "--micro-batch", "0"), 2, "--micro-batch")


def test_list():
    models = expect(Place().run("models", "--json"), 0).json()["models"]
    check({"tiny-llama", "llama-3-8b"} <= {model["name"] for model in models}, f"{models}")
    for model in models:
        check_fields(model, {"name": "text", "family": "text", "parameters": "int", "active": "int", "layers": "int", "vocabulary": "int"}, "models")
        check(model["name"] in expect(Place().run("models"), 0).out, f"{model['name']} is not in the table")


def test_what_hardware_has_not():
    rows = {line.split()[0]: line.split() for line in expect(Place().run("hardware"), 0).out.splitlines() if line}
    check(all(rows[gpu][5] == "none" for gpu in ("T4", "V100-SXM-16GB", "V100-SXM-32GB")), "GPUs without bfloat16")
    check(rows["pcie-workstation-4x-rtx4090"][-2:] == ["none", "-"], "a machine without a network or a price")
    check(rows["oci-bm.gpu.h100.8"][-1] == "80.00" and rows["H100-SXM"][-2] == "to", "prices")
    check("unknown" not in expect(Place().run("hardware"), 0).out, "what is not there is not unknown")


def test_hardware():
    document = expect(Place().run("hardware", "--json"), 0).json()
    check("H100-SXM" in {gpu["name"] for gpu in document["gpus"]}, "no H100")
    for gpu in document["gpus"]:
        check_fields(gpu, {"name": "text", "memory": "int", "memory_bandwidth": "number", "peak_bfloat16": "number?",
                           "dollars_per_hour_low": "number?", "dollars_per_hour_high": "number?", "estimated_figures": "list"}, "gpus")
    for node in document["nodes"]:
        check_fields(node, {"name": "text", "gpu": "text", "gpus": "int", "network": "number", "dollars_per_hour": "number?",
                            "estimated_figures": "list"}, "nodes")


main(globals())
