import Foundation
import HTTPSupport

/// The entity tags of an `If-Match` (RFC 9110 section 13.1.1).
struct EntityTags {
    private let tags: [String]

    /// - Parameter values: The values of the header fields; empty if the request has none.
    init(_ values: [String]) {
        tags = values.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// True if the tags are those of a representation, or if the request has none.
    ///
    /// - Parameter bytes: The present representation; nil for none.
    func match(_ bytes: [UInt8]?) -> Bool {
        guard !tags.isEmpty else { return true }
        return bytes.map { tags.contains("*") || tags.contains(CacheableAnswer.tag(of: $0)) } ?? false
    }
}
