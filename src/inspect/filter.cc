#include "inspect/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/go_text.h"
#include "ip/cidr.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;

constexpr std::string_view kDigits = "0123456789";

/// Reads "10.96." or "10.96": the addresses that begin with these whole numbers.
std::optional<WrittenRange> ReadBeginning(std::string_view text) {
  constexpr int kNumbers = 4;
  constexpr int kBits = 8;
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (text.find('.') == std::string_view::npos) return std::nullopt;
  std::string whole(text.ends_with('.') ? text.substr(0, text.size() - 1) : text);
  const auto numbers = static_cast<int>(std::ranges::count(whole, '.')) + 1;
  if (numbers >= kNumbers) return std::nullopt;
  for (int i = numbers; i < kNumbers; ++i) whole += ".0";
  const auto cidr = ip::ParseCidr(fmt::format("{}/{}", whole, numbers * kBits));
  if (!cidr) return std::nullopt;
  return WrittenRange{.pool = PoolId::kIpv4,
                      .values = {.first = cidr->First().bits(), .last = cidr->Last().bits()},
                      .text = cidr->ToString()};
}

/// Reads a value or values. A CIDR with bits beyond its prefix means the CIDR that has them.
std::optional<WrittenRange> ReadValues(std::string_view text) {
  if (const auto value = ReadValue(text)) {
    return WrittenRange{.pool = value->pool,
                        .values = {.first = value->value, .last = value->value},
                        .text = alloc::TextOf(*value)};
  }
  if (auto range = ReadWrittenRange(text); range && *range) return *std::move(range);
  if (const auto loose = ip::ParseCidrLoose(text)) {
    return WrittenRange{
        .pool = alloc::PoolOf(loose->cidr.family()),
        .values = {.first = loose->cidr.First().bits(), .last = loose->cidr.Last().bits()},
        .text = loose->cidr.ToString()};
  }
  return ReadBeginning(text);
}

Filter::Fit FitWithin(std::string_view whole, std::string_view part) {
  const size_t at = whole.find(part);
  if (at == std::string_view::npos) return Filter::Fit::kNone;
  if (at > 0) return Filter::Fit::kPart;
  return whole.size() == part.size() ? Filter::Fit::kExact : Filter::Fit::kBegin;
}

}  // namespace

bool HasLabel(std::string_view labels, std::string_view key,
              const std::optional<std::string>& value) {
  if (key.empty()) return false;
  std::string wanted(key);
  wanted += '=';
  if (value) wanted += *value;
  for (size_t at = labels.find(wanted); at != std::string_view::npos;
       at = labels.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    const bool begins = at == 0 || labels[at - 1] == ',';
    if (begins && (!value || end == labels.size() || labels[end] == ',')) return true;
  }
  return false;
}

base::Result<Filter> Filter::Read(std::string_view text) {
  text = base::GoTrimSpace(text);
  if (text.size() > kMostFilterBytes) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("a text to find has at most {} bytes", kMostFilterBytes));
  }
  Filter filter;
  filter.text_ = text;
  if (text.empty()) return filter;
  const auto split = [&](std::string_view rest) {
    const size_t slash = rest.find('/');
    filter.has_slash_ = slash != std::string_view::npos;
    filter.name_space_ = filter.has_slash_ ? rest.substr(0, slash) : std::string_view();
    filter.name_ = filter.has_slash_ ? rest.substr(slash + 1) : rest;
  };
  const auto split_label = [&](std::string_view rest) {
    const size_t equals = rest.find('=');
    filter.key_ = rest.substr(0, equals);
    if (equals != std::string_view::npos) filter.label_ = rest.substr(equals + 1);
  };
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kWords = {
      {{"service:", Kind::kService},
       {"namespace:", Kind::kNamespace},
       {"label:", Kind::kLabel},
       {"type:", Kind::kType}}};
  for (const auto& [word, kind] : kWords) {
    if (!text.starts_with(word)) continue;
    const std::string_view rest = text.substr(word.size());
    filter.kind_ = kind;
    if (kind == Kind::kService) split(rest);
    if (kind == Kind::kNamespace) filter.name_space_ = rest;
    if (kind == Kind::kLabel) split_label(rest);
    if (kind == Kind::kType) filter.name_ = base::InLowerCase(rest);
    return filter;
  }
  filter.values_ = ReadValues(text);
  filter.also_text_ = text.find_first_not_of(kDigits) == std::string_view::npos;
  if (filter.values_ && !filter.also_text_) {
    filter.kind_ = Kind::kValues;
  } else if (text.find('=') != std::string_view::npos) {
    filter.kind_ = Kind::kLabel;
    split_label(text);
  } else {
    filter.kind_ = Kind::kText;
    filter.key_ = text;
    split(base::InLowerCase(text));
  }
  return filter;
}

bool Filter::MatchesName(std::string_view name_space, std::string_view name) const {
  switch (kind_) {
    case Kind::kService:
      return name_space == name_space_ && name == name_;
    case Kind::kNamespace:
      return name_space == name_space_;
    case Kind::kText:
      if (has_slash_) return name_space.ends_with(name_space_) && name.starts_with(name_);
      return name.find(name_) != std::string_view::npos ||
             name_space.find(name_) != std::string_view::npos;
    default:
      return false;
  }
}

bool Filter::Matches(const Service& service) const {
  if (kind_ == Kind::kType) {
    return base::InLowerCase(service.type.empty() ? std::string_view("ClusterIP") : service.type) ==
           name_;
  }
  if (kind_ == Kind::kLabel) return HasLabel(service.labels, key_, label_);
  if (MatchesName(service.object.name_space, service.object.name)) return true;
  return kind_ == Kind::kText && HasLabel(service.labels, key_, std::nullopt);
}

bool Filter::Matches(const Record& record) const {
  const auto& facts = record.facts;
  if (facts.state == rules::RecordState::kFree) return false;
  if (!facts.reserved_for.empty()) {
    const std::string_view whom = facts.reserved_for;
    const size_t slash = std::min(whom.find('/'), whom.size() - 1);
    return MatchesName(whom.substr(0, slash), whom.substr(slash + 1));
  }
  return !facts.service_name.empty() && MatchesName(facts.service_namespace, facts.service_name);
}

Filter::Fit Filter::FitOf(std::string_view name) const {
  if (kind_ == Kind::kNamespace) return name == name_space_ ? Fit::kExact : Fit::kNone;
  if (kind_ != Kind::kText || has_slash_) return Fit::kNone;
  return FitWithin(name, name_);
}

Filter::Fit Filter::FitOf(const audit::ObjectRef& service) const {
  if (!MatchesName(service.name_space, service.name)) return Fit::kNone;
  if (kind_ == Kind::kService) return Fit::kExact;
  if (kind_ != Kind::kText) return Fit::kNone;
  if (!has_slash_) return FitWithin(service.name, name_);
  if (service.name_space.size() != name_space_.size()) return Fit::kPart;
  return service.name.size() == name_.size() ? Fit::kExact : Fit::kBegin;
}

}  // namespace berth::inspect
