import Ledger
import Proofs

/// The encoding of a user's contribution in the ledger: numbers as variable-length integers (LEB128), and texts with their
/// length. Each subject and currency is written once.
package enum FigureSumsCoding {
    package static func encode(_ sums: FigureSums) -> [UInt8] {
        let groups = Dictionary(grouping: sums.amounts) { Group(subject: $0.key.subject, currency: $0.key.currency) }
        var writer = Writer()
        for (group, sums) in groups.sorted(by: { $0.key < $1.key }) {
            writer.write(group)
            writer.write(UInt64(sums.count))
            let ordered = sums.sorted { ($0.key.day, $0.key.metric.rawValue) < ($1.key.day, $1.key.metric.rawValue) }
            for (key, amount) in ordered {
                writer.write(signed: key.day.daysSince1970)
                writer.write(key.metric.rawValue)
                writer.write(signed: amount)
            }
        }
        return writer.bytes
    }

    /// - Throws: `ColumnMismatch` for malformed bytes.
    package static func decode(_ bytes: [UInt8]) throws(ColumnMismatch) -> FigureSums {
        var reader = Reader(rest: bytes[...])
        var sums = FigureSums()
        while !reader.rest.isEmpty {
            let group = try reader.group()
            for _ in 0..<(try reader.number()) {
                let day = CalendarDay(daysSince1970: try reader.signed())
                guard let metric = FigureMetric(rawValue: try reader.text()) else { throw Reader.mismatch }
                sums.add(
                    try reader.signed(),
                    to: FigureKey(day: day, metric: metric, subject: group.subject, currency: group.currency))
            }
        }
        return sums
    }

    private struct Group: Hashable, Comparable {
        let subject: FigureSubject
        let currency: ByteKey

        static func < (left: Group, right: Group) -> Bool {
            func key(_ group: Group) -> (Int64, String, ByteKey, ByteKey, ByteKey) {
                let subject = group.subject
                return (subject.app, subject.origin.rawValue, subject.product, subject.storefront, group.currency)
            }
            return key(left) < key(right)
        }
    }

    private struct Writer {
        private(set) var bytes: [UInt8] = []

        mutating func write(_ number: UInt64) {
            var rest = number
            while rest > 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }

        /// Zigzag encoding: small numbers of either sign need few bytes.
        mutating func write(signed number: Int64) {
            write(UInt64(bitPattern: number << 1 ^ number >> 63))
        }

        mutating func write(_ text: String) {
            write(UInt64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }

        mutating func write(_ group: Group) {
            write(signed: group.subject.app)
            write(group.subject.origin.rawValue)
            write(group.subject.product.text)
            write(group.subject.storefront.text)
            write(group.currency.text)
        }
    }

    private struct Reader {
        static let mismatch = ColumnMismatch.column("sums")

        var rest: ArraySlice<UInt8>

        mutating func number() throws(ColumnMismatch) -> UInt64 {
            var number: UInt64 = 0
            for shift in stride(from: 0, through: 63, by: 7) {
                guard let byte = rest.popFirst() else { throw Self.mismatch }
                number |= UInt64(byte & 0x7F) << UInt64(shift)
                if byte < 0x80 { return number }
            }
            throw Self.mismatch
        }

        mutating func signed() throws(ColumnMismatch) -> Int64 {
            let number = try number()
            return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
        }

        mutating func text() throws(ColumnMismatch) -> String {
            let count = try number()
            guard count <= UInt64(rest.count),
                let text = String(validating: rest.prefix(Int(count)), as: UTF8.self)
            else { throw Self.mismatch }
            rest = rest.dropFirst(Int(count))
            return text
        }

        mutating func group() throws(ColumnMismatch) -> Group {
            let app = try signed()
            guard let origin = Origin(rawValue: try text()) else { throw Self.mismatch }
            let (product, storefront) = (try text(), try text())
            return Group(
                subject: FigureSubject(app: app, origin: origin, product: product, storefront: storefront),
                currency: ByteKey(try text()))
        }
    }
}
