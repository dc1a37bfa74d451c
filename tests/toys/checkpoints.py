"""Checkpoints made from a seed: small transformers with a tokenizer of the toy languages."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WIDTH = 24
LONGEST = 20


def toy_tokenizer(texts: list[str]) -> Any:
    """Train a WordPiece tokenizer that puts [CLS] and [SEP] around a text, and folds no case."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIAL)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, model_max_length=LONGEST, **names
    )


def toy_model(kind: str, pieces: int) -> Any:
    """Make a model of a kind with weights from a seed, large enough to tell texts apart."""
    import torch
    import transformers

    torch.manual_seed(4)
    sizes = {"vocab_size": pieces, "num_hidden_layers": 2, "num_attention_heads": 2}
    bert: dict[str, Any] = {"hidden_size": WIDTH, "intermediate_size": 48, **sizes}
    bert |= {"max_position_embeddings": 64, "pad_token_id": 0}
    roberta = {**bert, "max_position_embeddings": 24, "pad_token_id": 1}  # positions from 2 on
    causal = {**bert, "num_key_value_heads": 1, "head_dim": 12}
    dims: dict[str, Any] = {"vocab_size": pieces, "dim": WIDTH, "hidden_dim": 48}
    of_t5: dict[str, Any] = {"vocab_size": pieces, "d_model": WIDTH, "d_kv": 12, "d_ff": 48}
    make: dict[str, Callable[[], Any]] = {
        "bert": lambda: transformers.BertModel(transformers.BertConfig(**bert)),
        "xlm-roberta": lambda: transformers.XLMRobertaModel(
            transformers.XLMRobertaConfig(**roberta)
        ),
        "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**causal)),
        "classifier": lambda: transformers.BertForSequenceClassification(
            transformers.BertConfig(**bert)
        ),
        "cross-encoder": lambda: transformers.BertForSequenceClassification(
            transformers.BertConfig(**{**bert, "num_labels": 1})
        ),
        "bart": lambda: transformers.BartModel(
            transformers.BartConfig(vocab_size=pieces, d_model=32, encoder_layers=1)
        ),
        "distilbert": lambda: transformers.DistilBertModel(
            transformers.DistilBertConfig(**dims, n_layers=2, n_heads=2)
        ),
        "t5": lambda: transformers.T5EncoderModel(
            transformers.T5Config(**of_t5, num_layers=2, num_heads=2)
        ),
    }
    model = make[kind]()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.4)
    return model
