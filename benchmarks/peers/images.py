"""The images as the Python loops read them: PIL decodes each JPEG whenever it is requested, torchvision changes it."""
import os

from PIL import Image
from torch.utils.data import Dataset
from torchvision import transforms

NORMALIZE = transforms.Normalize([120.396 / 255, 115.594 / 255, 104.540 / 255], [70.682 / 255, 68.276 / 255, 72.545 / 255])


def to_train(size):
    return transforms.Compose([
        transforms.Resize((size, size)),
        transforms.RandomCrop(size, padding=max(1, round(size * 8 / 84))),
        transforms.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        NORMALIZE,
    ])


def to_test(size):
    return transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor(), NORMALIZE])


class Folder(Dataset):
    """FOLDER/<class>/<image>."""

    def __init__(self, root, transform):
        self.items = []
        classes = sorted(name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name)))
        for label, name in enumerate(classes):
            for image in sorted(os.listdir(os.path.join(root, name))):
                self.items.append((os.path.join(root, name, image), label))
        self.classes = len(classes)
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        path, label = self.items[index]
        with Image.open(path) as image:
            return self.transform(image.convert("RGB")), label
