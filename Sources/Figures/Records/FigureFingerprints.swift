import Commerce

/// Fingerprints of the sums of each month: two sets of sums with the same fingerprints are the same but by chance, one in 2^64.
///
/// A fingerprint is the sum of all amounts, each times a random number that its key has in this process.
struct FigureFingerprints {
    private var fingerprints: [CalendarDay: UInt64] = [:]

    /// The first days of the months whose fingerprints are not zero.
    var unequal: [CalendarDay] { fingerprints.filter { $0.value != 0 }.map(\.key) }

    /// Adds a sum to all rows that it goes into.
    mutating func add(_ amount: Int64, to key: FigureKey) {
        for row in FigureRow.all(of: key) { add(UInt64(bitPattern: amount), to: row) }
    }

    mutating func subtract(_ amount: Int64, from row: FigureRow) {
        add(0 &- UInt64(bitPattern: amount), to: row)
    }

    private mutating func add(_ amount: UInt64, to row: FigureRow) {
        var hasher = Hasher()
        hasher.combine(row)
        // An odd factor keeps each bit of the amount.
        let factor = UInt64(bitPattern: Int64(hasher.finalize())) | 1
        fingerprints[row.day.firstOfMonth, default: 0] &+= amount &* factor
    }
}
