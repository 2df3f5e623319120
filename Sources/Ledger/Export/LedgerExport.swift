import Foundation
import Proofs

/// The encoder of the lines of an export, with their digest.
struct LedgerExport {
    private var hash = SHA256State()
    private let encoder = JSONEncoder()

    init() {
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// The digest of all lines so far, in hexadecimal.
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
