"""The loss of a training run and the accuracy on held-out pairs, over its steps."""

from textual_plotext import PlotextPlot

from ..state.training_metrics import Metrics


class Curves(PlotextPlot):
    """Two curves: the loss by the axis on the left, accuracy by that on the right."""

    def show(self, metrics: Metrics) -> None:
        """Draw what there is; stages follow each other."""
        self.plt.clear_data()
        self.plt.title("loss, and accuracy on held-out pairs (right)")
        self.plt.xlabel("step")
        before = 0.0
        for stage, losses in metrics.losses.items():
            steps = [before + step for step, _ in losses]
            label = f"loss {stage}".strip()
            self.plt.plot(steps, [x for _, x in losses], label=label, marker="braille")
            if found := metrics.accuracies.get(stage):
                self.plt.plot(
                    [before + step for step, _ in found],
                    [x for _, x in found],
                    label=f"accuracy {stage}".strip(),
                    marker="x",
                    yside="right",
                )
            before = steps[-1]
        self.refresh()
