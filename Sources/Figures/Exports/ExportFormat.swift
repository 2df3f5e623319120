/// The form of an exported file.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// RFC 4180, with a header.
    case csv
    /// JSON Lines: an object a line, without members that are null.
    case jsonLines = "jsonl"

    /// The media type.
    public var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .jsonLines: "application/jsonl"
        }
    }
}
