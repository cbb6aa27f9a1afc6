"""A Llama in plain PyTorch with the module and parameter names of the Hugging Face checkpoint, and just enough safetensors to
exchange weights. Mirrors transformers 5, models/llama/modeling_llama.py; written out so that the peer needs nothing but torch.
"""
import json
import struct

import torch
import torch.nn.functional as F
from torch import nn


class LlamaRMSNorm(nn.Module):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return self.weight * wide.to(x.dtype)


def rotary_tables(length, head_dim, theta):
    """cos and sin of shape [length, head_dim], both halves alike."""
    frequency = 1.0 / (theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim))
    angle = torch.outer(torch.arange(length, dtype=torch.float32), frequency)
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class LlamaAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.kv_heads = config["num_key_value_heads"]
        self.head_dim = config.get("head_dim", hidden // self.heads)
        self.q_proj = nn.Linear(hidden, self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, hidden, bias=False)

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        split = lambda y, heads: y.view(batch, length, heads, self.head_dim).transpose(1, 2)
        cos, sin = cos.to(x.dtype), sin.to(x.dtype)
        query = rotate(split(self.q_proj(x), self.heads), cos, sin)
        key = rotate(split(self.k_proj(x), self.kv_heads), cos, sin)
        value = split(self.v_proj(x), self.kv_heads)
        repeats = self.heads // self.kv_heads
        key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
        out = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, -1))


class LlamaMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, inner = config["hidden_size"], config["intermediate_size"]
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = LlamaAttention(config)
        self.mlp = LlamaMLP(config)
        self.input_layernorm = LlamaRMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.post_attention_layernorm = LlamaRMSNorm(config["hidden_size"], config["rms_norm_eps"])

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.layers = nn.ModuleList(LlamaDecoderLayer(config) for _ in range(config["num_hidden_layers"]))
        self.norm = LlamaRMSNorm(config["hidden_size"], config["rms_norm_eps"])

    def forward(self, tokens, cos, sin):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


class LlamaForCausalLM(nn.Module):
    def __init__(self, config, sequence_length):
        super().__init__()
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)
        if config.get("tie_word_embeddings"):
            self.lm_head.weight = self.model.embed_tokens.weight
        head_dim = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
        self.tables = rotary_tables(sequence_length, head_dim, config.get("rope_theta", 10000.0))

    def forward(self, tokens):
        return self.lm_head(self.model(tokens, *self.tables))


def mean_loss(logits, targets):
    return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def random_weights(config, seed):
    """Name to float32 tensor: every parameter once, tied ones under their first name."""
    generator = torch.Generator().manual_seed(seed)
    model = LlamaForCausalLM(config, 8)
    weights = {}
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        weights[name] = 1 + 0.1 * noise if parameter.dim() == 1 else config.get("initializer_range", 0.02) * noise
    return weights


def adapted_weights(weights, lora, seed):
    """The same with low-rank adapters under peft's names; B is not zero, so that A has gradients from the first step on."""
    generator, adapted = torch.Generator().manual_seed(seed), {}
    for name, tensor in weights.items():
        path = name.removesuffix(".weight")
        if path.split(".")[-1] not in lora["targets"]:
            adapted[name] = tensor
            continue
        adapted[f"{path}.base_layer.weight"] = tensor
        for part, shape in (("A", (lora["rank"], tensor.shape[1])), ("B", (tensor.shape[0], lora["rank"]))):
            adapted[f"{path}.lora_{part}.default.weight"] = 0.1 * torch.randn(shape, generator=generator)
    return adapted


def write_safetensors(path, tensors):
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.detach().contiguous().float().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_safetensors(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    dtypes = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = torch.frombuffer(data[begin:end], dtype=dtypes[entry["dtype"]]).reshape(entry["shape"]).clone()
    return tensors
