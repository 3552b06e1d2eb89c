#include "berth/inspect/whois_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/inspect/past_source.h"
#include "berth/inspect/show.h"
#include "berth/inspect/whois_document.h"
#include "berth/inspect/whois_text.h"
#include "berth/observe/history_document.h"
#include "berth/store/open.h"
#include "berth/terminal.h"
#include "codec/json.h"
#include "codec/timestamp.h"
#include "codec/yaml.h"
#include "inspect/question.h"
#include "inspect/whois.h"

namespace berth::cli {
namespace {

std::vector<inspect::WhoisAnswer> AskAll(const inspect::Census& census,
                                         const std::vector<inspect::Question>& questions,
                                         const inspect::History& history) {
  std::vector<inspect::WhoisAnswer> answers;
  answers.reserve(questions.size());
  for (const auto& question : questions) {
    answers.push_back(inspect::Ask(census, question, history));
  }
  return answers;
}

/// What the history says about one question.
struct PastAnswer {
  std::string text = {};
  codec::Value document = {};
};

base::Result<PastAnswer> AskPast(const history::HistoryReader& reader,
                                 const inspect::Question& question, base::WallTime at,
                                 size_t width) {
  if (question.value) {
    const auto held = reader.WhoHeld(*question.value, at);
    if (!held) return tl::unexpected(held.error());
    return PastAnswer{HeldAtText(alloc::TextOf(*question.value), at, *held, false, width),
                      ToDocument(*question.value, at, *held)};
  }
  if (!question.name || question.name->name_space.empty()) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("--at: {}: must be an address, a port or a Service "
                                  "(namespace/name)",
                                  base::GoQuoted(question.asked)));
  }
  const auto& [name_space, name] = *question.name;
  const auto held = reader.WhatHeld(name_space, name, at);
  if (!held) return tl::unexpected(held.error());
  const std::string service = fmt::format("{}/{}", name_space, name);
  return PastAnswer{HeldAtText(service, at, *held, true, width),
                    ServiceDocumentAt(service, at, *held)};
}

base::Result<base::WallTime> CheckMoment(const WhoisArguments& arguments, bool has_history) {
  const auto bad = [](std::string why) {
    return base::Fail(base::Reason::kInvalid, std::move(why));
  };
  if (!has_history) return bad("--at needs --history, the data directory of berth observe");
  constexpr std::array<std::string_view, 4> kFormats = {"table", "wide", "json", "yaml"};
  if (std::ranges::find(kFormats, arguments.output.format) == kFormats.end()) {
    return bad(fmt::format("-o {}: must be table, wide, json or yaml",
                           base::GoQuoted(arguments.output.format)));
  }
  if (arguments.output.watch) return bad("--at: the past does not change; leave out --watch");
  if (NamesSource(arguments.source)) {
    return bad("--at: only the history is read; leave out -f and the flags that name a cluster");
  }
  const auto at = codec::ParseTime(arguments.at);
  if (at) return *at;
  return bad(fmt::format("--at {}: must be a time such as 2026-11-18T09:30:00Z",
                         base::GoQuoted(arguments.at)));
}

/// Answers who held values, or what Services held, at a moment of the past.
int RunWhoisAt(const WhoisArguments& arguments, const std::vector<inspect::Question>& questions,
               const std::optional<history::HistoryReader>& reader) {
  const auto at = CheckMoment(arguments, reader.has_value());
  if (!at) return ReportError("whois", at.error());
  const size_t width = DetectStyle(kInspectWidths).width;
  codec::Array documents;
  std::string text;
  for (const inspect::Question& question : questions) {
    auto answer = AskPast(*reader, question, *at, width);
    if (!answer) return ReportError("whois", answer.error());
    text += answer->text;
    documents.push_back(std::move(answer->document));
  }
  const std::string& format = arguments.output.format;
  if (format == "json") {
    text = codec::WriteJson(std::move(documents), {.indent = 2}) + "\n";
  } else if (format == "yaml") {
    text = codec::WriteYaml(std::move(documents), codec::YamlOrder::kAsGiven);
  }
  return PrintOut(text) ? kFine : kFailed;
}

}  // namespace

int RunWhois(const WhoisArguments& arguments) {
  std::vector<inspect::Question> questions;
  int status = kFine;
  for (const std::string& value : arguments.values) {
    auto question = inspect::ReadQuestion(value);
    if (!question) {
      status = ReportError("whois", question.error());
      continue;
    }
    questions.push_back(*std::move(question));
  }
  if (status != kFine) return status;
  std::optional<history::HistoryReader> reader;
  if (!arguments.history.empty()) {
    auto opened = OpenHistoryReader(arguments.history);
    if (!opened) return ReportError("whois", opened.error());
    reader = *std::move(opened);
  }
  if (!arguments.at.empty()) return RunWhoisAt(arguments, questions, reader);
  const inspect::History history = reader ? PastOwners(*reader) : inspect::History();
  return Show("whois", arguments.source, arguments.output,
              {.text =
                   [&](const inspect::Census& census, const Style& style, bool wide) {
                     return WhoisText(census, AskAll(census, questions, history), style, wide);
                   },
               .document =
                   [&](const inspect::Census& census) {
                     return WhoisDocument(census, AskAll(census, questions, history));
                   },
               .exit_code =
                   [&](const inspect::Census& census) {
                     const auto answers = AskAll(census, questions, history);
                     const bool all = std::ranges::all_of(
                         answers, [](const auto& answer) { return answer.Found(); });
                     return all ? kFine : kFailed;
                   }});
}

}  // namespace berth::cli
