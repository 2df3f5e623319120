import Foundation
import Signatures

/// The lines of an exported ledger on their way out.
struct LedgerExport {
    private var hash = SHA256State()
    private let encoder = JSONEncoder()

    init() {
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// Hexadecimal, of all lines so far.
    var digest: String { hash.digest().hexadecimal }

    mutating func text(of lines: [ExportLine]) throws -> Data {
        var text = Data()
        for line in lines {
            text.append(try encoder.encode(line))
            text.append(UInt8(ascii: "\n"))
        }
        hash.update([UInt8](text)[...])
        return text
    }
}
