#!/usr/bin/env python3
"""Expected tokens and vectors of Hugging Face's text encoders with made-up weights, from `tokenizers` and `transformers` themselves.

    tests/golden/text_encoders.py > tests/golden/text_encoders.json

Needs PyTorch, transformers and tokenizers. Vocabularies are trained here on the texts; a weight is a function of its place and of its name's length
(tests/golden/made_up.py), so that no file of weights is needed. Of each vector there are as many numbers as fit: its products with a few rows of noise.
"""
import json
import random
import sys
import tempfile
from pathlib import Path

import tokenizers
import torch
import transformers

from made_up import made_up, noise

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
COLOURS = "red green blue brown white black yellow grey orange purple spotted striped iridescent".split()
THINGS = ("bird dog cat horse zebra okapi warbler albatross daisy iris lotus sunflower harmonica accordion crab crayfish anchor dragonfly emu gramophone "
          "helicopter joshua_tree minaret pagoda pizza revolver saxophone stapler trilobite umbrella wrench yin_yang").split()
PARTS = "crown wing tail breast beak leg petal stem wheel roof key window eye fin".split()
TEMPLATES = ["a photo of a {c} {t}.", "a {t} with a {c} {p}", "a small {c} {t}, which has a {c2} {p} and two {p}s", "itap of my {t}.", "{t}", "The {T}'s {p} isn't {c}; it's {c2}!",
             "a drawing of {n} {t}s", "A {C} {T} (juvenile)", "graffiti of a {t}: {c}/{c2} #{n}", "they've seen the {t}, we'll see it, I'd say you're right - I'm sure"]
ODD = ["Señor Müller's naïve café", "ÀÉÎÕÜ àéîõü", "e\u0301te\u0301 A\u030angstro\u0308m", "Straße STRASSE ẞ", "İstanbul ISTANBUL ıi", "Σίσυφος ΣΊΣΥΦΟΣ", "Приве́т, МИР",
       "東京タワー カタカナ ｶﾀｶﾅ 한국어 中文字", "שלום עליכם", "مرحبا بالعالم ١٢٣", "हिन्दी में", "ไทย", "🐦 a bird 🐦🔴", "👩‍👩‍👧‍👦 family", "🇩🇪🇫🇷 flags", "❤️ vs ❤", "a\u00a0no-break\u2003space\u3000wide",
       "tab\tand\nnewline\r\nend", "zero\u200bwidth\u200djoiner\ufeff", "½ ² Ⅷ ④ 12.5e-3", "“quoted” ‘single’ – dash — em… ", "ﬁne ﬂuﬀ", "x̂ y̌ z̈", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚", "control\u0001\u0007chars\u0085nel",
       "!!!???...", "a!'s b'S '' 't", "rock'n'roll o'clock 'tis", "don’t won’t", "$5 €6 £7 ¥8 +1 -2 =3 <4 >5 |6 ~7 ^8 `9", "user@example.com https://example.com/a?b=c&d", "C++ C# .NET",
       "snake_case kebab-case camelCase", "1234567890", "a" * 90, "antidisestablishmentarianism " * 3, "<|endoftext|> in the middle", "bird<|startoftext|>bird<|endoftext|>bird",
       "<|ENDOFTEXT|>!!", "<| endoftext |>", "[CLS] a [SEP] [MASK] b", "</s> <s> <unk> <pad>", "  leading and trailing  ", "\u0300combining first", "q\u0307\u0323 q\u0323\u0307", "\U0001f9ff\U0001fae0",
       "�", "\ue000private", "ǅ ǈ ǋ titlecase", "ʰ modifier ˈstress", "٠١٢ ۰۱۲ ०१२", "ﷺ", "ＦＵＬＬ ｗｉｄｔｈ", "Ω Å K kelvin", "ᾼ ᾳ", "ŉ ǰ ΐ"]


def all_texts():
    draw = random.Random(7)
    pick = draw.choice
    made = []
    for _ in range(700):
        t = pick(THINGS).replace("_", pick([" ", "_"]))
        made.append(pick(TEMPLATES).format(c=pick(COLOURS), c2=pick(COLOURS), C=pick(COLOURS).upper(), t=t, T=t.title(), p=pick(PARTS), n=draw.randrange(2000)))
    made += THINGS + ODD
    while len(made) < 985:
        pieces = draw.sample(ODD, 2) + [pick(THINGS), pick(COLOURS)]
        draw.shuffle(pieces)
        made.append(pick([" ", "", ", ", "-"]).join(piece[:12] for piece in pieces))
    while len(made) < 1000:
        made.append(" ".join(pick(TEMPLATES).format(c=pick(COLOURS), c2=pick(COLOURS), C=pick(COLOURS), t=pick(THINGS), T=pick(THINGS), p=pick(PARTS), n=draw.randrange(99)) for _ in range(9)))
    return made


def fill(network):
    state = {key: value for key, value in network.state_dict().items() if value.is_floating_point()}
    with torch.no_grad():
        for key, value in state.items():
            value.copy_(made_up(key, list(value.shape)))
    return {key: list(value.shape) for key, value in state.items()}


def written(vectors):
    """Three products of each vector with noise."""
    rows = noise(3 * vectors.shape[1], 3).reshape(3, -1)
    return [[float(f"{v:.6g}") for v in row] for row in (vectors.double() @ rows.T).tolist()]


def tokens_of(inputs):
    return [row[mask.bool()].tolist() for row, mask in zip(inputs.input_ids, inputs.attention_mask)]


def clip(texts):
    model = transformers.CLIPTokenizer()  # its normaliser, its words, its ends
    plain = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    plain.normalizer, plain.pre_tokenizer = model.backend_tokenizer.normalizer, model.backend_tokenizer.pre_tokenizer
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=700, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), end_of_word_suffix="</w>", show_progress=False)
    plain.train_from_iterator(texts, trainer)
    learned = json.loads(plain.to_str())["model"]
    # As in CLIP's own vocabulary: bytes, bytes that end a word, what was merged, the ends.
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [tuple(pair) for pair in learned["merges"]]
    names = letters + [letter + "</w>" for letter in letters] + ["".join(pair) for pair in merges] + ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    tokenizer = transformers.CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77)
    config = transformers.CLIPTextConfig(**SMALL, vocab_size=len(vocabulary), projection_dim=24, eos_token_id=vocabulary["<|endoftext|>"], bos_token_id=vocabulary["<|startoftext|>"])
    network = transformers.CLIPTextModelWithProjection(config).eval()
    shapes = fill(network)
    inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt", return_attention_mask=True)
    ids = tokens_of(inputs)
    with torch.no_grad():
        vectors = network(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask).text_embeds
    said = {key: getattr(config, key) for key in (*SMALL, "model_type", "eos_token_id", "hidden_act", "layer_norm_eps", "projection_dim")}
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        saved = json.loads((Path(folder) / "tokenizer.json").read_text())
    return {"config": said, "shapes": shapes, "vocabulary": vocabulary, "merges": [" ".join(pair) for pair in merges],
            "added_tokens": saved["added_tokens"], "tokens": ids, "vectors": written(vectors)}


def sentences(texts, name):
    """BERT with its own tokenizer, MPNet with such pieces between other ends, on every fourth text; the mean of all states."""
    ends = ["<s>", "</s>"] if name == "mpnet" else ["[CLS]", "[SEP]"]
    plain = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    plain.normalizer, plain.pre_tokenizer = tokenizers.normalizers.BertNormalizer(lowercase=True), tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=700, limit_alphabet=200, special_tokens=["[PAD]", "[UNK]", *ends, "[MASK]"], show_progress=False)
    plain.train_from_iterator(texts, trainer)
    vocabulary = dict(sorted(plain.get_vocab().items(), key=lambda item: item[1]))
    tokenizer = transformers.BertTokenizer(vocab=vocabulary, cls_token=ends[0], sep_token=ends[1], model_max_length=60)
    if name == "mpnet":
        network = transformers.MPNetModel(transformers.MPNetConfig(**SMALL, vocab_size=len(vocabulary), max_position_embeddings=72), add_pooling_layer=False).eval()
    else:
        network = transformers.BertModel(transformers.BertConfig(**SMALL, vocab_size=len(vocabulary), max_position_embeddings=72), add_pooling_layer=False).eval()
    shapes = fill(network)
    inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    ids = tokens_of(inputs)
    vectors = []
    with torch.no_grad():
        for row in ids:  # MPNet counts places up to the padding's number, so texts are alone
            vectors.append(network(input_ids=torch.tensor([row])).last_hidden_state[0].mean(0))
    config = network.config
    said = {key: getattr(config, key) for key in (*SMALL, "model_type", "hidden_act", "layer_norm_eps")}
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        saved = json.loads((Path(folder) / "tokenizer.json").read_text())
    return {"config": said, "shapes": shapes, "vocabulary": list(vocabulary), "added_tokens": saved["added_tokens"], "normalizer": saved["normalizer"], "tokens": ids, "vectors": written(torch.stack(vectors))}


if __name__ == "__main__":
    torch.set_num_threads(1)
    texts = all_texts()
    golden = {"texts": texts, "clip": clip(texts), "bert": sentences(texts, "bert"), "mpnet": sentences(texts[::4], "mpnet")}
    for name, family in golden.items():
        if name != "texts":
            lengths = torch.tensor([float(len(ids)) for ids in family["tokens"]])
            print(name, "tokens", lengths.mean().item(), "to", lengths.max().item(), "vectors", torch.tensor(family["vectors"]).std(0).tolist(), file=sys.stderr)
    json.dump(golden, sys.stdout, separators=(",", ":"), ensure_ascii=True)
    print()
