#!/usr/bin/env python3
"""Expected tokens and vectors of SigLIP's text tower with made-up weights, from `sentencepiece` and `transformers` themselves.

    tests/golden/siglip_texts.py > tests/golden/siglip_texts.json

Needs PyTorch, transformers and sentencepiece. Every fourth of the texts of text_encoders.py. The model of pieces is trained here on them, with rules of
NFKC for their own letters (sentencepiece's own rules for all of Unicode take 240 KB, and are compared with --whole, which writes no file).
"""
import base64
import io
import json
import sys
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
import torch
import transformers

from text_encoders import SMALL, all_texts, fill, written


def rules(texts):
    """As sentencepiece's own: compatibility forms, and spaces of all kinds."""
    letters = {letter for text in texts for letter in text.lower()}
    pairs = {letter: unicodedata.normalize("NFKC", letter) for letter in letters}
    pairs.update({letter: " " for letter in "\t\n\r\u00a0\u2003\u3000\u200b\u2581\ufeff"})
    pairs.update({"\u0001": "", "\u0007": "", "\u200d": "", "e\u0301": "\u00e9"})  # one of several letters
    shown = lambda text: " ".join(f"{ord(letter):X}" for letter in text)
    return "".join(f"{shown(left)}\t{shown(right)}\n" for left, right in sorted(pairs.items()) if left != right)


def train(texts, whole):
    trained = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rules.tsv"
        table.write_text(rules(texts))
        how = {"normalization_rule_name": "nmt_nfkc"} if whole else {"normalization_rule_tsv": str(table)}
        # As T5's vocabularies have them: padding, end, unknown.
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([text.lower() for text in texts]), model_writer=trained, vocab_size=400, hard_vocab_limit=False, model_type="unigram", pad_id=0, eos_id=1,
                                                 unk_id=2, bos_id=-1, character_coverage=0.98, minloglevel=2, **how)
    return trained.getvalue()


def main(whole):
    torch.set_num_threads(1)
    texts = all_texts()[::1 if whole else 4]
    model = train(all_texts(), whole)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spiece.model").write_bytes(model)
        tokenizer = transformers.SiglipTokenizer(str(Path(folder) / "spiece.model"), model_max_length=40)
        inputs = tokenizer(texts, padding="max_length", truncation=True, return_tensors="pt", return_attention_mask=True)
        config = transformers.SiglipTextConfig(**SMALL, vocab_size=tokenizer.vocab_size, max_position_embeddings=48, projection_size=24)
        network = transformers.SiglipTextModel(config).eval()
        shapes = fill(network)
        with torch.no_grad():
            vectors = network(input_ids=inputs.input_ids).pooler_output  # padding is seen, as in training
    ids = [row[:int(mask.sum())].tolist() for row, mask in zip(inputs.input_ids, inputs.attention_mask)]
    said = {key: getattr(config, key) for key in (*SMALL, "model_type", "hidden_act", "layer_norm_eps", "projection_size")}
    lengths = torch.tensor([float(len(row)) for row in ids])
    unknown = sum(row.count(2) for row in ids)
    print("tokens", lengths.mean().item(), "to", lengths.max().item(), "unknown", unknown, "vectors", torch.tensor(written(vectors)).std(0).tolist(), "model", len(model), file=sys.stderr)
    return {"config": said, "shapes": shapes, "padded": inputs.input_ids.shape[1],
            "model": base64.b64encode(model).decode(), "texts": texts, "tokens": ids, "vectors": written(vectors)}


if __name__ == "__main__":
    json.dump(main("--whole" in sys.argv), sys.stdout, separators=(",", ":"), ensure_ascii=True)
    print()
