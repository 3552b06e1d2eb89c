#include "codec/template.h"

#include <algorithm>
#include <optional>

#include "codec/proto_wire.h"

namespace berth::codec {
namespace {

/// The length of the prefix of stored protobuf.
constexpr size_t kMagicSize = 4;

std::optional<size_t> PlaceholderOf(std::string_view content, Placeholders placeholders) {
  const auto found = std::find(placeholders.begin(), placeholders.end(), content);
  if (found == placeholders.end()) return std::nullopt;
  return static_cast<size_t>(found - placeholders.begin());
}

bool Contains(std::string_view content, Placeholders placeholders) {
  return std::any_of(placeholders.begin(), placeholders.end(), [content](std::string_view one) {
    return content.find(one) != std::string_view::npos;
  });
}

}  // namespace

TextTemplate::TextTemplate(std::string_view sample, Placeholders placeholders) : sample_(sample) {
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const std::string_view placeholder = placeholders[i];
    sizes_.push_back(placeholder.size());
    for (size_t at = sample.find(placeholder); at != std::string_view::npos;
         at = sample.find(placeholder, at + placeholder.size())) {
      gaps_.push_back({.at = at, .placeholder = i});
    }
  }
  std::sort(gaps_.begin(), gaps_.end(), [](const Gap& a, const Gap& b) { return a.at < b.at; });
}

std::string TextTemplate::Fill(std::span<const std::string_view> values) const {
  std::string text;
  text.reserve(PositionOf(sample_.size(), values));
  size_t from = 0;
  for (const Gap& gap : gaps_) {
    text.append(sample_, from, gap.at - from).append(values[gap.placeholder]);
    from = gap.at + sizes_[gap.placeholder];
  }
  text.append(sample_, from);
  return text;
}

size_t TextTemplate::PositionOf(size_t at, std::span<const std::string_view> values) const {
  size_t position = at;
  for (const Gap& gap : gaps_) {
    if (gap.at >= at) break;
    position += values[gap.placeholder].size() - sizes_[gap.placeholder];
  }
  return position;
}

std::vector<TextTemplate::ValueSpan> TextTemplate::ValueSpans(
    std::span<const std::string_view> values) const {
  std::vector<ValueSpan> spans;
  spans.reserve(gaps_.size());
  size_t shift = 0;
  for (const Gap& gap : gaps_) {
    const size_t size = values[gap.placeholder].size();
    spans.push_back({.at = gap.at + shift, .size = size, .placeholder = gap.placeholder});
    shift += size - sizes_[gap.placeholder];
  }
  return spans;
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  });
}

ProtoTemplate::ProtoTemplate(std::string_view sample, Placeholders placeholders) {
  Add(sample.substr(kMagicSize), placeholders);
  AddBytes(sample.substr(0, kMagicSize));
}

void ProtoTemplate::AddBytes(std::string_view bytes) {
  if (bytes.empty()) return;
  if (!parts_.empty() && parts_.back().kind == Part::Kind::kBytes) {
    parts_.back().bytes.insert(0, bytes);
    return;
  }
  parts_.push_back({.kind = Part::Kind::kBytes, .bytes = std::string(bytes)});
}

void ProtoTemplate::Add(std::string_view message, Placeholders placeholders) {
  std::vector<ProtoReader::Field> fields;
  ProtoReader reader(message);
  for (ProtoReader::Field field; reader.Next(field);) fields.push_back(field);
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    const bool bytes = field->type == WireType::kBytes;
    const auto placeholder = bytes ? PlaceholderOf(field->content, placeholders) : std::nullopt;
    if (placeholder) {
      parts_.push_back(
          {.kind = Part::Kind::kValue, .number = field->number, .placeholder = *placeholder});
    } else if (bytes && Contains(field->content, placeholders)) {
      parts_.push_back({.kind = Part::Kind::kBegin});
      Add(field->content, placeholders);
      parts_.push_back({.kind = Part::Kind::kEnd, .number = field->number});
    } else {
      AddBytes(field->whole);
    }
  }
}

std::string ProtoTemplate::Fill(std::span<const std::string_view> values) const {
  ProtoWriter out;
  std::vector<size_t> begun;
  for (const Part& part : parts_) {
    switch (part.kind) {
      case Part::Kind::kBytes:
        out.PrependRaw(part.bytes);
        break;
      case Part::Kind::kValue:
        out.PrependBytesField(part.number, values[part.placeholder]);
        break;
      case Part::Kind::kBegin:
        begun.push_back(out.Size());
        break;
      case Part::Kind::kEnd:
        out.PrependLength(part.number, out.Size() - begun.back());
        begun.pop_back();
        break;
    }
  }
  return out.Take();
}

}  // namespace berth::codec
