import Synchronization

/// Texts that many rows have, such as the identifiers of products. Rows with the same bytes get one text, without memory of their own.
///
/// A text is given only for its own bytes, which the row has.
package final class SharedTexts: Sendable {
    /// The number of places. Texts of one place displace each other.
    private static let capacity = 1 << 10

    private let texts = Mutex(Array(repeating: "", count: capacity))

    package init() {}

    func text(of bytes: UnsafeRawBufferPointer) -> String {
        // FNV-1a, whose few lines spread short texts well enough.
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let place = Int(hash % UInt64(Self.capacity))
        return texts.withLock { texts in
            let isKnown = texts[place].utf8.withContiguousStorageIfAvailable { $0.elementsEqual(bytes) } ?? false
            if !isKnown { texts[place] = String(decoding: bytes, as: UTF8.self) }
            return texts[place]
        }
    }
}
