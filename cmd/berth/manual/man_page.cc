#include "berth/manual/man_page.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

constexpr std::string_view kUsualExitStatus =
    "0 for success, 2 for invalid arguments or files, 1 for other errors.";

std::string Bold(std::string_view text) { return fmt::format("\\fB{}\\fR", TroffEscaped(text)); }
std::string Italic(std::string_view text) { return fmt::format("\\fI{}\\fR", TroffEscaped(text)); }

/// Reads one character of UTF-8 and moves `at` past it. Returns U+FFFD for an invalid byte.
uint32_t TakeCharacter(std::string_view utf8, size_t& at) {
  constexpr uint32_t kReplacement = 0xFFFD;
  const auto first = static_cast<unsigned char>(utf8[at++]);
  if (first < 0x80) return first;
  const size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || at + more > utf8.size()) return kReplacement;
  uint32_t code = first & (0x3FU >> more);
  for (size_t i = 0; i < more; ++i) {
    const auto next = static_cast<unsigned char>(utf8[at + i]);
    if ((next & 0xC0U) != 0x80) return kReplacement;
    code = (code << 6U) | (next & 0x3FU);
  }
  at += more;
  return code;
}

/// Returns the blocks of the text that blank lines separate.
std::vector<std::string> Paragraphs(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const size_t end = text.find("\n\n");
    if (end != 0) all.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 2);
  }
  return all;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Returns whether the line begins like "records: one object for each address", and so must not be
/// joined to the line before it.
bool BeginsWithTerm(std::string_view line) {
  const size_t colon = line.find(": ");
  return colon != std::string_view::npos && colon > 0 && line.find_first_of(" ,.") > colon;
}

/// Returns the lines of a paragraph. Those that begin with a blank keep their form.
std::string Filled(std::string_view paragraph) {
  std::string out;
  bool as_is = false;
  for (const std::string_view line : LinesOf(paragraph)) {
    if (line.empty()) continue;
    if (line.starts_with(' ') != as_is) out += as_is ? ".fi\n" : ".nf\n";
    as_is = line.starts_with(' ');
    if (!as_is && BeginsWithTerm(line) && !out.empty()) out += ".br\n";
    out += TroffEscaped(line) + "\n";
  }
  return out + (as_is ? ".fi\n" : "");
}

/// Returns the lines in their form, without their common two blanks of indentation.
std::string AsTyped(std::string_view lines) {
  std::string out = ".PP\n.RS 4\n.nf\n";
  for (std::string_view line : LinesOf(lines)) {
    if (line.starts_with("  ")) line.remove_prefix(2);
    out += (line.empty() ? ".sp" : TroffEscaped(line)) + "\n";
  }
  return out + ".fi\n.RE\n";
}

/// The parts of a command's footer.
struct Footer {
  std::vector<std::string> paragraphs;
  std::string examples;
  std::string exit_status;
};

Footer FooterOf(const CommandDescription& command) {
  Footer footer;
  const auto after = [](const std::string& block, std::string_view heading) {
    return block.starts_with(heading) ? block.substr(heading.size()) : std::string();
  };
  bool after_examples = false;
  for (const std::string& block : Paragraphs(command.footer)) {
    std::string examples = after(block, "Examples:\n") + after(block, "Example:\n");
    // Examples can have blank lines between them.
    if (after_examples && block.starts_with(' ')) examples = block;
    after_examples = !examples.empty();
    std::string exit_status = after(block, "Exit status: ");
    if (!examples.empty()) {
      footer.examples += footer.examples.empty() ? examples : "\n\n" + examples;
    } else if (!exit_status.empty()) {
      footer.exit_status = std::move(exit_status);
    } else {
      footer.paragraphs.push_back(block);
    }
  }
  if (footer.exit_status.empty()) footer.exit_status = kUsualExitStatus;
  return footer;
}

/// Returns the summary as the line of NAME has it: without the program's name, in lower case.
std::string NameLine(const CommandDescription& command) {
  std::string summary = command.summary;
  if (const std::string own = command.name + ", "; summary.starts_with(own)) {
    summary.erase(0, own.size());
  }
  if (!summary.empty()) {
    summary.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.front())));
  }
  return fmt::format("{} \\- {}\n", TroffEscaped(PageName(command)), TroffEscaped(summary));
}

std::string Synopsis(const CommandDescription& command) {
  std::string out = Bold(command.name);
  for (const auto& flag : command.flags) {
    if (flag.required) out += fmt::format(" {} {}", Bold(flag.names.back()), Italic(flag.value));
  }
  out += fmt::format(" [{}]...", Italic("OPTION"));
  if (!command.commands.empty()) out += " " + Italic("COMMAND");
  for (const auto& argument : command.arguments) {
    const std::string name = Italic(argument.name) + (argument.repeats ? "..." : "");
    out += argument.required ? " " + name : fmt::format(" [{}]", name);
  }
  return out + "\n";
}

std::string DescriptionSection(const CommandDescription& command, const Footer& footer) {
  std::string out = ".SH DESCRIPTION\n";
  const auto add = [&out](std::string_view paragraph) { out += ".PP\n" + Filled(paragraph); };
  if (command.text.empty()) {
    add(command.summary + (command.summary.ends_with('.') ? "" : "."));
  }
  for (const auto& paragraph : Paragraphs(command.text)) add(paragraph);
  for (const auto& paragraph : footer.paragraphs) add(paragraph);
  for (const auto& argument : command.arguments) {
    out += fmt::format(".TP\n{}\n{}\n", Italic(argument.name), TroffEscaped(argument.help));
  }
  return out;
}

std::string CommandsSection(const CommandDescription& command) {
  if (command.commands.empty()) return "";
  std::string out = ".SH COMMANDS\n";
  for (const auto& below : command.commands) {
    out += fmt::format(".TP\n{}(1)\n{}\n", Bold(PageName(below)), TroffEscaped(below.summary));
  }
  return out;
}

std::string OptionsSection(const CommandDescription& command) {
  if (command.flags.empty()) return "";
  std::string out = ".SH OPTIONS\n";
  std::string group;
  for (const auto& flag : command.flags) {
    if (flag.group != group) out += fmt::format(".SS \"{}\"\n", TroffEscaped(flag.group));
    group = flag.group;
    std::string names;
    for (const auto& name : flag.names) {
      names += (names.empty() ? "" : ", ") + Bold(name);
      if (!flag.value.empty()) names += " " + Italic(flag.value);
    }
    out += fmt::format(".TP\n{}\n{}\n", names, TroffEscaped(flag.help));
  }
  return out;
}

/// Names the pages of the commands directly above and below this one, and of those beside it.
std::string SeeAlso(const CommandDescription& program, const CommandDescription& command) {
  std::string out;
  const auto add = [&](const CommandDescription& other) {
    if (&other == &command) return;
    out += (out.empty() ? "" : ", ") + fmt::format("{}(1)", Bold(PageName(other)));
  };
  for (const CommandDescription* other : AllCommands(program)) {
    const bool is_above = other == &program || command.name.starts_with(other->name + " ");
    if (is_above) add(*other);
  }
  for (const CommandDescription* other : AllCommands(program)) {
    if (other == &program) continue;
    const std::string parent = other->name.substr(0, other->name.rfind(' '));
    const bool is_below = parent == command.name;
    const bool is_beside =
        command.name.starts_with(parent + " ") && command.name.rfind(' ') == parent.size();
    if (is_below || is_beside) add(*other);
  }
  if (out.empty()) return "";
  return ".SH SEE ALSO\n" + Replaced(out, ", ", ",\n") + "\n";
}

}  // namespace

std::string TroffEscaped(std::string_view utf8) {
  std::string out;
  bool begins_line = true;
  for (size_t at = 0; at < utf8.size();) {
    const uint32_t code = TakeCharacter(utf8, at);
    // A dot or an apostrophe at the beginning of a line would be a request.
    if (begins_line && (code == '.' || code == '\'')) out += "\\&";
    begins_line = code == '\n';
    switch (code) {
      case '\\':
        out += "\\(rs";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        if (code < 0x80) {
          out += static_cast<char>(code);
        } else {
          out += fmt::format("\\[u{:04X}]", code);
        }
    }
  }
  return out;
}

std::string PageName(const CommandDescription& command) { return Replaced(command.name, " ", "-"); }

std::string ManPage(const CommandDescription& program, const CommandDescription& command,
                    std::string_view version) {
  const Footer footer = FooterOf(command);
  std::string title = PageName(command);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = fmt::format(".TH \"{}\" 1 \"\" \"Berth {}\" \"Berth Manual\"\n",
                                TroffEscaped(title), TroffEscaped(version));
  // Left adjusted and not hyphenated, because a command that is broken apart cannot be copied.
  out += ".nh\n.ad l\n";
  out += ".SH NAME\n" + NameLine(command);
  out += ".SH SYNOPSIS\n" + Synopsis(command);
  out += DescriptionSection(command, footer);
  out += CommandsSection(command);
  out += OptionsSection(command);
  if (!footer.examples.empty()) out += ".SH EXAMPLES\n" + AsTyped(footer.examples);
  out += ".SH EXIT STATUS\n" + Filled(footer.exit_status);
  out += SeeAlso(program, command);
  return out;
}

}  // namespace berth::cli
