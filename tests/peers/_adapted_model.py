"""Adapters of peft on a model of transformers, on layers as they are or as bitsandbytes stores them in four bits."""
import torch


def quantize(model, kind):
    """As transformers does while it loads a checkpoint, with weights packed in the dtype that FSDP flattens."""
    if kind == "none":
        return
    import bitsandbytes
    from transformers import BitsAndBytesConfig
    from transformers.integrations.bitsandbytes import replace_with_bnb_linear
    weights = {name: module.weight.data for name, module in model.named_modules() if type(module) is torch.nn.Linear}
    replace_with_bnb_linear(model, ["lm_head"], BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=kind == "nf4_double",
        bnb_4bit_compute_dtype=torch.bfloat16, bnb_4bit_quant_storage=torch.bfloat16))
    model.is_loaded_in_4bit = True  # what peft asks for
    for name, module in model.named_modules():
        if isinstance(module, bitsandbytes.nn.Linear4bit):
            module.weight = bitsandbytes.nn.Params4bit(
                weights[name], requires_grad=False, compress_statistics=kind == "nf4_double", quant_type="nf4",
                quant_storage=torch.bfloat16, module=module).to("cpu")


def add_adapters(model, targets, kind):
    from peft import LoraConfig, inject_adapter_in_model
    inject_adapter_in_model(LoraConfig(r=8, lora_alpha=16, target_modules=targets), model)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora_" in name)
        if "lora_" in name:
            parameter.data = parameter.data.to(torch.bfloat16)


def scales_of(model):
    """Bytes of the scales of weights in four bits, which no unit shards: without tables of 16 numbers and means of one."""
    states = [module.quant_state for module in model.modules() if getattr(module, "quant_state", None) is not None]
    first = sum(state.absmax.untyped_storage().nbytes() for state in states)
    return first + sum(state.state2.absmax.untyped_storage().nbytes() for state in states if state.nested)
