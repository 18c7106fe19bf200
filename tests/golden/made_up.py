"""Weights and images that are functions of their place, for expected features without files of weights."""
import torch


def noise(count, shift):
    """Of the i-th element, in float64: the fraction of 43758.5453 sin(12.9898 i + shift), brought to [-1, 1)."""
    value = 43758.5453 * torch.sin(12.9898 * torch.arange(count, dtype=torch.float64) + shift)
    return 2 * (value - torch.floor(value)) - 1


def made_up(name, shape):
    """Noise, shifted by the length of the name; batch norms and layer norms stay near 1."""
    count = 1
    for size in shape:
        count *= size
    values = noise(count, len(name)).reshape(shape)
    if name.endswith("running_var"):
        return 1 + 0.3 * values
    if name.endswith("gamma") or (len(shape) == 1 and name.endswith("weight")):
        return 1 + 0.2 * values
    if len(shape) == 1:
        return 0.1 * values
    fan_in = count // shape[0] if len(shape) in (2, 4) else 4
    return values * (3 / fan_in) ** 0.5


def images(size):
    return (0.5 + 0.5 * noise(2 * 3 * size * size, 0)).float().reshape(2, 3, size, size)


def normalised(x):
    mean, std = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    return (x - torch.tensor(mean).view(1, 3, 1, 1)) / torch.tensor(std).view(1, 3, 1, 1)
