import Testing

/// The App Store against the table.
@Suite struct AppleTableTests {
    @Test(arguments: CommonCases.all + AppleCases.all)
    func `each surface says what the App Store's pages say`(_ row: TableRow) async throws {
        try await row.check(.apple)
    }
}

/// The rows that only the App Store has.
enum AppleCases {
    static let all: [TableRow] = []
}
