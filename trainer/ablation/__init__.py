"""xmine.trainer.ablation.runner."""
