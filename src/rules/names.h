// What names, labels and ports may look like. Each function returns everything that is wrong, as
// the texts Kubernetes puts into its messages; nothing when the text is fine. Pure.
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

/// A label key, which is also what Kubernetes calls a qualified name: "name" or "domain/name".
Problems QualifiedNameProblems(std::string_view text);
Problems LabelValueProblems(std::string_view text);

/// The name of a container port, as `targetPort` may give it.
Problems PortNameProblems(std::string_view text);
Problems PortNumberProblems(int64_t port);

/// What may stand as one element of a URL path. A prefix (`generateName`) may also be "." or "..".
Problems PathSegmentProblems(std::string_view text, bool prefix);

/// A rule for `metadata.name`. For `generateName` it is called with `prefix`: then a dash at the
/// end is tolerated, because something will follow.
using NameRule = Problems (*)(std::string_view text, bool prefix);

Problems NameIsDnsLabel(std::string_view text, bool prefix);
Problems NameIsDnsSubdomain(std::string_view text, bool prefix);
Problems NameIsDns1035Label(std::string_view text, bool prefix);
Problems NameIsPathSegment(std::string_view text, bool prefix);

/// How many random characters follow a generateName, and which ones they may be.
inline constexpr size_t kGeneratedSuffixLength = 5;
inline constexpr std::string_view kGeneratedSuffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/// The name made from `metadata.generateName` and random text of kGeneratedSuffixLength; the base
/// is cut so that the whole fits a DNS label.
std::string GeneratedName(std::string_view base, std::string_view random);

}  // namespace berth::rules
