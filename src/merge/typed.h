// What server-side apply does to documents, by the types of their fields. A document here is an
// object as its JSON says it, without `apiVersion` and `kind`: null and empty values are there.
// Pure functions; they take time about linear in what they are given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/schema.h"
#include "codec/value.h"
#include "merge/field_set.h"

namespace berth::merge {

/// What of a document does not fit its types: unknown fields, values of another type, entries of
/// lists that nothing tells apart. Each with its path: ".spec.bogus: field not declared in schema".
/// The other functions want documents without such, but that entries may be there twice where that
/// is said.
std::vector<std::string> FindTypeErrors(const codec::Value& document, const api::Message& message);

/// Every field that a document mentions. Entries may be there twice.
FieldSet FieldsOf(const codec::Value& document, const api::Message& message);

/// `live` with everything that `config` says. Nothing is taken away; entries that both lists have
/// get the order of `config`. In `live`, entries may be there twice; those that `config` names too
/// become one.
codec::Value MergeDocuments(const codec::Value& live, const codec::Value& config,
                            const api::Message& message);

/// Without these fields. Of a struct, map or list from which everything goes, null stays.
codec::Value WithoutFields(const codec::Value& document, const FieldSet& fields,
                           const api::Message& message);

/// With all fields of structs that have members below them.
FieldSet WithNamedFields(const FieldSet& set, const api::Message& message);

/// With the name only of atomic fields of which it names parts; nothing: there are none.
std::optional<FieldSet> WithAtomicFields(const FieldSet& set, const api::Message& message);

}  // namespace berth::merge
