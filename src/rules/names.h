// The syntax of names, labels and ports. Each function returns all problems of a text, in the words
// that Kubernetes puts into its messages. The list is empty if the text is valid. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::rules {

using Problems = std::vector<std::string>;

Problems Dns1123LabelProblems(std::string_view text);
Problems Dns1123SubdomainProblems(std::string_view text);
Problems Dns1035LabelProblems(std::string_view text);

/// Checks a label key, which Kubernetes also calls a qualified name: "name" or "domain/name".
Problems QualifiedNameProblems(std::string_view text);
Problems LabelValueProblems(std::string_view text);

/// Checks the name of a container port, as `targetPort` may give it.
Problems PortNameProblems(std::string_view text);
Problems PortNumberProblems(int64_t port);

/// Checks one element of a URL path. A prefix (`generateName`) may also be "." or "..".
Problems PathSegmentProblems(std::string_view text, bool prefix);

/// A rule for `metadata.name`. For `generateName` it is called with `prefix`. A dash at the end is
/// then allowed, because a suffix will follow.
using NameRule = Problems (*)(std::string_view text, bool prefix);

Problems NameIsDnsLabel(std::string_view text, bool prefix);
Problems NameIsDnsSubdomain(std::string_view text, bool prefix);
Problems NameIsDns1035Label(std::string_view text, bool prefix);
Problems NameIsPathSegment(std::string_view text, bool prefix);

/// The number of random characters that follow a generateName, and the characters to choose from.
inline constexpr size_t kGeneratedSuffixLength = 5;
inline constexpr std::string_view kGeneratedSuffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/// Returns the name made of `metadata.generateName` and random text of kGeneratedSuffixLength. The
/// base is truncated so that the whole name fits a DNS label.
std::string GeneratedName(std::string_view base, std::string_view random);

}  // namespace berth::rules
