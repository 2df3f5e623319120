import Entitlements
import Proofs
import Testing

/// The rules of grants.
@Suite struct GrantRuleTests {
    private static let grant = Grant(
        identifier: "g", item: RuleFixture.sprout, reason: "a gift", grantedBy: "K", grantedAt: RuleFixture.now,
        endsAt: nil)

    private static func revocation(_ reason: String) -> Revocation {
        Revocation(revokedAt: RuleFixture.later(5), reason: reason, revokedBy: "K")
    }

    @Test func `a grant is revoked once`() throws {
        let revoked = try #require(Self.grant.revoked(by: Self.revocation("first")))
        #expect(revoked.revocation?.reason == "first")
        #expect(revoked.revoked(by: Self.revocation("second")) == nil)
    }
}
