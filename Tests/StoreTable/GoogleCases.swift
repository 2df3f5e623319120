import Testing

/// Google Play against the table.
@Suite struct GoogleTableTests {
    @Test(arguments: CommonCases.all + GoogleCases.all)
    func `each surface says what Google Play's pages say`(_ row: TableRow) async throws {
        try await row.check(.google)
    }
}

/// The rows that only Google Play has.
enum GoogleCases {
    static let all: [TableRow] = []
}
