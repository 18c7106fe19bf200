#!/usr/bin/env python3
"""Expected tokens and vectors of SigLIP 2's text tower with made-up weights, from `tokenizers` and `transformers` themselves.

    tests/golden/siglip2_texts.py > tests/golden/siglip2_texts.json

Needs PyTorch, transformers and tokenizers. Every fourth of the texts of text_encoders.py and some of Gemma's own tokens. The byte pairs are trained here on
them; a letter that is rare in them is written as its bytes. With --folder FOLDER the whole encoder is written there, and the tokens of all texts into
FOLDER/tokens.json: 1,000, and 1,000 of random letters.
"""
import json
import random
import sys
import tempfile
from pathlib import Path

import tokenizers
import torch
import transformers
from safetensors.torch import save_file

from text_encoders import ODD, SMALL, THINGS, all_texts, fill, written

ENDS = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
OWN = ["[@BOS@]", *(f"<unused{i}>" for i in range(99 if "--folder" in sys.argv else 8)), "<start_of_turn>", "<end_of_turn>", *("\n" * i for i in range(1, 32)), *("\u2581" * i for i in range(2, 32)),
       "<table>", "</table>", *(f"<h{i}>" for i in range(1, 7)), "<blockquote>"]
LONGEST = 40
GEMMA = ["a photo<eos>of a <pad> bird", "<BOS><bos>", "two  spaces   three    four", " \u2581 \u2581\u2581 mark \u2581\u2581\u2581\u2581", "line\nline\n\nline\n\n\n\n\nline", "\n" * 33, " " * 70,
         "<unused7><unused77><unused777>", "<table>a</table>", "<0x41><0xFF>", "trailing ", "\u0130stanbul \u03a3\u03a3", "a\x00b", " ", "<h1>A<h7>B"]


def train(texts):
    plain = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    plain.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Split("\u2581", "merged_with_next")
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=800, limit_alphabet=90, special_tokens=[*ENDS, *OWN, *(f"<0x{i:02X}>" for i in range(256))], show_progress=False)
    plain.train_from_iterator([text.lower() for text in texts], trainer)
    model = json.loads(plain.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def as_published(tokenizer, folder):
    """As the first folders of SigLIP 2 are: nothing said of small letters, a template that ends with <eos>, all of Gemma's own tokens listed."""
    plain = tokenizer.backend_tokenizer
    plain.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
    plain.add_special_tokens([tokenizers.AddedToken(token, normalized=False) for token in OWN])
    plain.post_processor = tokenizers.processors.TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", 1)])
    plain.save(str(Path(folder) / "tokenizer.json"))
    said = {"add_bos_token": False, "add_eos_token": True, "padding_side": "right", "tokenizer_class": "GemmaTokenizer", "eos_token": "<eos>", "pad_token": "<pad>", "model_max_length": LONGEST}
    (Path(folder) / "tokenizer_config.json").write_text(json.dumps(said))
    return transformers.Siglip2Tokenizer.from_pretrained(folder)


def random_texts(letters):
    draw = random.Random(11)
    parts = [*OWN, *ENDS, *THINGS, *ODD]
    some = lambda: draw.choice([lambda: draw.choice(parts), lambda: draw.choice(letters), lambda: " " * draw.randrange(6), lambda: chr(draw.choice([draw.randrange(1, 0xD800), draw.randrange(0xE000, 0x20000)]))])()
    return ["".join(some() for _ in range(draw.randrange(1, 25))) for _ in range(1000)]


def main(kept):
    torch.set_num_threads(1)
    vocabulary, merges = train(all_texts())
    with tempfile.TemporaryDirectory() as folder:
        folder = kept or folder
        tokenizer = as_published(transformers.Siglip2Tokenizer(vocab=vocabulary, merges=merges), folder)
        model = json.loads((Path(folder) / "tokenizer.json").read_text())
    for token in model["added_tokens"]:
        for key in ("single_word", "lstrip", "rstrip", "special"):
            del token[key]  # not read
    texts = (all_texts() if kept else all_texts()[::4]) + GEMMA + (random_texts("".join(ODD)) if kept else [])
    inputs = tokenizer(texts, padding="max_length", truncation=True, max_length=LONGEST, return_tensors="pt")
    config = transformers.SiglipTextConfig(**SMALL, vocab_size=len(vocabulary), max_position_embeddings=48, projection_size=24)
    network = transformers.SiglipTextModel(config).eval()
    shapes = fill(network)
    with torch.no_grad():
        vectors = network(input_ids=inputs.input_ids).pooler_output  # padding is seen, as in training
    ids = inputs.input_ids.tolist()
    said = {key: getattr(config, key) for key in (*SMALL, "model_type", "hidden_act", "layer_norm_eps", "projection_size")}
    if kept:
        (Path(kept) / "config.json").write_text(json.dumps(said))
        save_file(network.state_dict(), str(Path(kept) / "model.safetensors"))
        (Path(kept) / "tokens.json").write_text(json.dumps({"texts": texts, "tokens": ids}))
    ids = [row[:max((i + 1 for i, token in enumerate(row) if token), default=0)] for row in ids]
    lengths = torch.tensor([float(len(row)) for row in ids])
    print("tokens", lengths.mean().item(), "to", lengths.max().item(), "vectors", torch.tensor(written(vectors)).std(0).tolist(), "vocabulary", len(vocabulary), file=sys.stderr)
    return {"config": said, "shapes": shapes, "padded": LONGEST, "tokenizer": model, "texts": texts, "tokens": ids, "vectors": written(vectors)}


if __name__ == "__main__":
    golden = main(sys.argv[2] if "--folder" in sys.argv else None)
    if "--folder" not in sys.argv:
        json.dump(golden, sys.stdout, separators=(",", ":"), ensure_ascii=True)
        print()
