/// The format of an exported file.
package enum ExportFormat: String, CaseIterable, Sendable {
    /// RFC 4180, with a header.
    case csv
    /// JSON Lines, with one object per line and without null members.
    case jsonLines = "jsonl"

    /// The media type.
    package var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .jsonLines: "application/jsonl"
        }
    }
}
