import Proofs

/// The error of a file that is not a readable data export. Nothing of it is imported.
package enum ExportFileError: CodedError, Equatable {
    case unreadable(path: String)
    case compressed(path: String)
    /// A quote inside a field without quotes, or a text after the closing quote.
    case quoteInvalid(line: Int)
    /// A quoted field without an end.
    case quoteOpen(line: Int)
    /// A carriage return without a line feed.
    case lineEndInvalid(line: Int)
    case headerInvalid
    case columnMissing(String)
    case columnRepeated(String)

    package var code: String {
        switch self {
        case .unreadable: "fileUnreadable"
        case .compressed: "fileCompressed"
        case .quoteInvalid, .quoteOpen, .lineEndInvalid: "exportSyntaxInvalid"
        case .headerInvalid, .columnMissing, .columnRepeated: "exportHeaderInvalid"
        }
    }

    package var message: String {
        switch self {
        case .unreadable(let path): "\"\(path)\" cannot be read. Check that it is a file and that you may read it."
        case .compressed(let path): "\"\(path)\" is compressed. Run `gunzip` on it, and import the result."
        case .quoteInvalid(let line): "Line \(line) has a quote in a wrong place. \(Self.remedy)"
        case .quoteOpen(let line): "A quoted field that begins in line \(line) or later has no end. \(Self.remedy)"
        case .lineEndInvalid(let line): "Line \(line) has a carriage return without a line feed. \(Self.remedy)"
        case .headerInvalid: "The first line does not name the columns. \(Self.remedy)"
        case .columnMissing(let name):
            "The column \(name) is missing. Select it in the settings of the scheduled data export. Nothing was imported."
        case .columnRepeated(let name): "The first line names the column \(name) twice. \(Self.remedy)"
        }
    }

    private static let remedy = "Nothing was imported; use a file of the scheduled data export in CSV (RFC 4180)."
}
