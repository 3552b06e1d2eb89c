#include "berth/inspect/whois_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
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

int BadMoment(std::string_view why) {
  return ReportError("whois", {.reason = base::Reason::kInvalid, .message = std::string(why)});
}

/// Answers who held addresses and ports at a moment of the past.
int RunWhoisAt(const WhoisArguments& arguments, const history::HistoryReader& reader) {
  const auto at = codec::ParseTime(arguments.at);
  if (!at) {
    return BadMoment(fmt::format("--at {}: must be a time such as 2026-11-18T09:30:00Z",
                                 base::GoQuoted(arguments.at)));
  }
  codec::Array documents;
  std::string text;
  for (const std::string& asked : arguments.values) {
    const auto value = ParseHeldValue(asked);
    if (!value) return BadMoment(fmt::format("--at: {}", value.error().message));
    const auto held = reader.WhoHeld(*value, *at);
    if (!held) return ReportError("whois", held.error());
    text += HeldAtText(*value, *at, *held);
    documents.push_back(ToDocument(*value, *at, *held));
  }
  const std::string& format = arguments.output.format;
  if (format == "json") text = codec::WriteJson(std::move(documents), {.indent = 2}) + "\n";
  if (format == "yaml") text = codec::WriteYaml(std::move(documents), codec::YamlOrder::kAsGiven);
  return PrintOut(text) ? kFine : kFailed;
}

}  // namespace

int RunWhois(const WhoisArguments& arguments) {
  std::vector<inspect::Question> questions;
  int status = kFine;
  for (const std::string& value : arguments.values) {
    auto question = inspect::ReadQuestion(value);
    if (!question) {
      fmt::print(stderr, "berth whois: {}\n", question.error().message);
      status = kBadUsage;
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
  if (!arguments.at.empty()) {
    if (!reader) return BadMoment("--at needs --history, the data directory of berth observe");
    return RunWhoisAt(arguments, *reader);
  }
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
