import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The members of the seed app.
@Suite struct MemberTests {
    private let folder: TemporaryFolder
    private let ledger: Ledger
    private let mint: User
    private let now = Timestamp(secondsSince1970: 1_790_000_000)

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        mint = try #require(User(issuer: "https://issuer.example", name: "mint"))
    }

    private func join(_ phoneNumber: String) async throws -> Bool {
        try await ledger.write {
            try $0.join(
                mint, phoneNumber: phoneNumber, email: "a@b.co", fcmToken: "f", birth: "2000-01-01", gender: -1, at: now
            )
        }
    }

    @Test func `a user signs up once`() async throws {
        #expect(try await ledger.read { try $0.member(of: mint) } == nil)
        #expect(try await join("1"))
        #expect(try await !join("2"))
        #expect(try await ledger.read { try $0.member(of: mint) }?.phoneNumber == "1")
    }

    @Test func `an erased user is not a member`() async throws {
        _ = try await join("1")
        #expect(try await ledger.write { try $0.erase(mint, by: .user, at: now) })
        #expect(try await ledger.read { try $0.member(of: mint) } == nil)
        #expect(try LedgerFile(folder.file("ledger.sqlite")).check().rows["member"] == 0)
    }
}
