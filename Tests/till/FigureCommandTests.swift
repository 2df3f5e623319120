import Foundation
import GRDB
import TestSupport
import Testing
import Wire

/// `till figures`, and what `till ledger check` says of the sums.
@Suite struct FigureCommandTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func units(_ arguments: String..., environment: [String: String] = [:]) async throws -> [Int64] {
        let result = try await till.run(
            arguments: ["figures", "units", "--environment", "sandbox", "--json"] + arguments,
            environment: environment)
        #expect(result.status == 0, "\(result.error)")
        return try result.decoded(FigureAnswerResource.self).series.flatMap(\.values)
    }

    private func change(_ sql: String) async throws {
        try await DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path).write {
            try $0.execute(sql: sql)
        }
    }

    @Test func `figures tell what was bought since the last call, too`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        #expect(try await units().last == 1)
        try await till.run("buy", "com.memolease.sesac1.sprout2", "--user", "bob")
        #expect(try await units().reduce(0, +) == 2)
        #expect(try await till.run("ledger", "check").status == 0)
        let table = try await till.run(
            "figures", "units", "--environment", "sandbox", "--by", "month", "--group", "product")
        #expect(table.output.contains("com.memolease.sesac1.sprout2"))
        #expect(table.output.hasPrefix("FROM"))
        let list = try await till.run("figures")
        #expect(list.output.contains("trial-conversion"))
    }

    @Test func `a check finds a wrong sum`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        #expect(try await units().last == 1)
        try await change("UPDATE figure SET amount = 7 WHERE metric = 'units'")
        let checked = try await till.run("ledger", "check", "--json")
        #expect(checked.status == 1)
        #expect(try checked.decoded(CheckedLedger.self).problems.contains { $0.hasPrefix("The figures of") })
    }

    @Test func `a service keeps the sums, and tells them to a command`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let key = try await till.run("keys", "make", "figures", "--scope", "figures").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let service = try await ServeProcess(till, ["--figures"])
        let address = service.url.absoluteString
        try await expectEventually {
            try await units("--server", address, environment: ["TILL_API_KEY": key]).reduce(0, +) == 1
        }
        #expect(await service.end(SIGTERM) == 0)
        let closed = try await ServeProcess(till)
        #expect(try await closed.curl("/v1/figures", key: key).code == "notFound")
    }

    @Test func `an export is a file of one moment`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let exported = try await till.run("export", "transactions", "sales.csv")
        #expect(exported.status == 0, "\(exported.error)")
        let lines = try String(contentsOf: till.folder.file("sales.csv"), encoding: .utf8).split(
            whereSeparator: \.isNewline)
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("alice,") == true)
        #expect(try await till.run("export", "transactions", "sales.csv", "--json").code == "backupExists")
    }

    @Test(arguments: [
        ["figures", "profit"], ["figures", "units", "--by", "year"], ["figures", "units", "--from", "yesterday"],
        ["figures", "units", "--group", "user"], ["export", "sales", "sales.csv"],
    ])
    func `wrong usage ends with 64`(arguments: [String]) async throws {
        #expect(try await till.run(arguments: arguments).status == 64)
    }
}
