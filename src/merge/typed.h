// Operations of server-side apply on documents, by the types of their fields. A document here is an
// object as in its JSON, without `apiVersion` and `kind`, but with null and empty values. Pure
// functions; they take time about linear in their input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/schema.h"
#include "codec/value.h"
#include "merge/field_set.h"

namespace berth::merge {

/// Returns what does not fit the types of a document: unknown fields, values of another type, and
/// list entries without a key. Each text has its path: ".spec.bogus: field not declared in schema".
/// The other functions need documents without such errors, except that duplicate entries are
/// allowed where the comment says so.
std::vector<std::string> FindTypeErrors(const codec::Value& document, const api::Message& message);

/// Returns every field that a document mentions. Duplicate entries are allowed.
FieldSet FieldsOf(const codec::Value& document, const api::Message& message);

/// Returns `live` with everything that is in `config`. Nothing is removed. Entries that
/// both lists have get the order of `config`. `live` may have duplicate entries; those that
/// are in `config` too become one.
codec::Value MergeDocuments(const codec::Value& live, const codec::Value& config,
                            const api::Message& message);

/// Returns the document without these fields. A struct, map or list that
/// loses everything becomes null.
codec::Value WithoutFields(const codec::Value& document, const FieldSet& fields,
                           const api::Message& message);

/// Returns the set with all fields of structs that have members below them.
FieldSet WithNamedFields(const FieldSet& set, const api::Message& message);

/// Replaces parts of atomic fields by the whole fields. Returns nullopt if
/// the set has no such parts.
std::optional<FieldSet> WithAtomicFields(const FieldSet& set, const api::Message& message);

}  // namespace berth::merge
