import Proofs

/// The fingerprints of the sums of each month. Different sums have the same fingerprint with a probability of 1 in 2^64.
///
/// A fingerprint is the sum of all amounts, each multiplied by a pseudorandom number of its key in this process.
struct FigureFingerprints {
    private var fingerprints: [CalendarDay: UInt64] = [:]

    /// The first days of the months whose fingerprints are not zero.
    var unequal: [CalendarDay] { fingerprints.filter { $0.value != 0 }.map(\.key) }

    /// Adds a sum to all its rows.
    mutating func add(_ amount: Int64, to key: FigureKey) {
        for row in FigureRow.all(of: key) { add(UInt64(bitPattern: amount), to: row) }
    }

    mutating func subtract(_ amount: Int64, from row: FigureRow) {
        add(0 &- UInt64(bitPattern: amount), to: row)
    }

    private mutating func add(_ amount: UInt64, to row: FigureRow) {
        var hasher = Hasher()
        hasher.combine(row)
        // An odd factor preserves each bit of the amount.
        let factor = UInt64(bitPattern: Int64(hasher.finalize())) | 1
        fingerprints[row.day.firstOfMonth, default: 0] &+= amount &* factor
    }
}
