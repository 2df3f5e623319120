import Commerce
import Entitlements
import Testing

/// The time in which a user owns what was given.
@Suite struct GrantRuleTests {
    private static func grant(endsAfter seconds: Int64? = nil, isRevoked: Bool = false) -> Grant {
        Grant(
            identifier: "g", item: RuleFixture.sprout, reason: "a gift", grantedBy: "K", grantedAt: RuleFixture.now,
            endsAt: seconds.map(RuleFixture.later), revocation: isRevoked ? revocation("fraud") : nil)
    }

    private static func revocation(_ reason: String) -> Revocation {
        Revocation(revokedAt: RuleFixture.later(5), reason: reason, revokedBy: "K")
    }

    @Test(
        arguments: [
            (grant(), 1000, true),
            (grant(endsAfter: 10), 9, true),
            (grant(endsAfter: 10), 10, false),
            (grant(isRevoked: true), 0, false),
            (grant(endsAfter: 10, isRevoked: true), 1, false),
        ] as [(Grant, Int64, Bool)])
    func `an item is owned until its grant ends or is revoked`(grant: Grant, seconds: Int64, isOwned: Bool) {
        #expect(grant.covers(RuleFixture.later(seconds)) == isOwned)
    }

    @Test func `a grant is revoked once`() throws {
        let revoked = try #require(Self.grant().revoked(by: Self.revocation("first")))
        #expect(revoked.revocation?.reason == "first")
        #expect(revoked.revoked(by: Self.revocation("second")) == nil)
    }
}
