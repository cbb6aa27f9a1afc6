"""The collectives of our plan are the collectives that Python's fully_shard makes: kind, bytes, dtype, group size, order, and the bytes of
gathered parameters that are alive when each is issued and when the loss is computed."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder, first_difference, needed, python_fsdp2_cases, shardlab, training, write_scenario

COLLECTIVES = {"AllGather", "ReduceScatter", "AllReduce", "Broadcast", "AllToAll", "Reduce"}
# 4 ranks do not divide the row counts 257, 170 and 30.
UNEVEN = {"hidden_size": 60, "intermediate_size": 170, "vocab_size": 257, "num_attention_heads": 6, "num_key_value_heads": 3}
# Two rows of k_proj and v_proj: two of the four ranks hold padding alone.
SPARSE = {"hidden_size": 12, "intermediate_size": 10, "num_attention_heads": 6, "num_key_value_heads": 1, "vocab_size": 257}

UNITS = {"LlamaDecoderLayer": {}, "LlamaMLP": {"reduce": "bfloat16"}, "LlamaRMSNorm": {"param": "float32", "output": "bfloat16"}}

CASES = {
    "reshard default": training(),
    "reshard true": training(reshard="true"),
    "reshard false": training(reshard="false"),
    "root reshard true": training(root_reshard=True),
    "root reshard false": training(root_reshard=False),
    "root reshard true, layers false": training(reshard="false", root_reshard=True),
    "root reshard true, accumulation 2, sync every": training(root_reshard=True, accumulation=2, sync="every"),
    "root reshard true, tied embeddings, bfloat16": training(root_reshard=True, param="bfloat16", config={"tie_word_embeddings": True}),
    "root reshard over 2 of 4 ranks": training(root_reshard=2, ranks=4, micro_batch=1, config=UNEVEN),
    "layers over 2 of 4 ranks, root true": training(reshard="2", root_reshard=True, ranks=4, micro_batch=1, config=UNEVEN),
    "norm and head together": training(together=["model.norm", "lm_head"]),
    "norm and head together, kept after forward": training(together=["model.norm", "lm_head"], together_reshard=False),
    "norm and head together, kept, root reshard true, bfloat16": training(together=["model.norm", "lm_head"], together_reshard=False, root_reshard=True, param="bfloat16"),
    "head and norm together, accumulation 2, sync last": training(together=["lm_head", "model.norm"], accumulation=2),
    "embedding, norm and head together, tied": training(together=["model.embed_tokens", "model.norm", "lm_head"], config={"tie_word_embeddings": True}),
    "embedding and head together, uneven rows, 4 ranks": training(together=["model.embed_tokens", "lm_head"], config=UNEVEN, ranks=4, micro_batch=1),
    "accumulation 2, sync last": training(accumulation=2, sync="last"),
    "accumulation 2, sync every": training(accumulation=2, sync="every"),
    "accumulation 3, sync last, reshard false": training(accumulation=3, sync="last", reshard="false"),
    "bfloat16 parameters": training(param="bfloat16"),
    "bfloat16 parameters, accumulation 2, sync last": training(param="bfloat16", accumulation=2),
    "bfloat16 parameters and reduction": training(param="bfloat16", reduce="bfloat16"),
    "float16 with a scaled loss": training(param="float16", scaler={"initial_scale": 1024.0}),
    "float16 with a scaled loss, no clipping": training(param="float16", reduce="float16", clip_norm=None, scaler={"initial_scale": 1024.0}),
    "norms in float32, MLPs reduced in bfloat16": training(param="bfloat16", units=UNITS),
    "the same, accumulation 2, sync last": training(param="bfloat16", units=UNITS, accumulation=2),
    "tied embeddings": training(config={"tie_word_embeddings": True}),
    "no clipping": training(clip_norm=None),
    "state in host memory": training(offload=True),
    "state in host memory, bfloat16, accumulation 2, sync every": training(offload=True, param="bfloat16", accumulation=2, sync="every"),
    "state in host memory, reshard over 2 of 4 ranks": training(offload=True, reshard="2", ranks=4, micro_batch=1, config=UNEVEN),
    "uneven rows, 4 ranks": training(config=UNEVEN, ranks=4, micro_batch=1),
    "fewer rows than ranks, 4 ranks": training(config=SPARSE, ranks=4, micro_batch=1),
}


def planned(scenario, step):
    plan = shardlab("plan", scenario, "--step", step)
    gathered = {buffer["name"]: buffer["bytes"] for buffer in plan["buffers"] if buffer["class"] == "gathered_parameters"}
    alive = sum(gathered.get(buffer["name"], 0) for buffer in plan["buffers"] if buffer["carried"])
    events, loss = [], plan["segments"][-1]["name"]
    for i in plan["instructions"]:
        if i["kind"] in COLLECTIVES:
            events.append({"kind": i["kind"], "bytes": i["bytes"], "dtype": i["dtype"], "ranks": len(i["group"]), "gathered": alive})
        if i["kind"] == "Forward" and i["segment"] == loss:
            events.append({"kind": "Loss", "gathered": alive})
        alive += sum(gathered.get(name, 0) for name in i["allocates"]) - sum(gathered.get(name, 0) for name in i["frees"])
    return events


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    failures = 0
    for spec in CASES.values():
        spec["record"] = [0, 1]
    with Folder() as folder:
        made = python_fsdp2_cases(CASES, folder)
        for name, spec in CASES.items():
            scenario = write_scenario(spec, folder)
            for step, recorded in (("first", made[name]["collectives"]["0"]), ("steady", made[name]["collectives"]["1"])):
                difference = first_difference(planned(scenario, step), recorded)
                failures += difference is not None or not recorded
                print(f"{name}, {step} step: {len(recorded)} collectives: {difference or 'equal'}")
    sys.exit(1 if failures else 0)


main()
