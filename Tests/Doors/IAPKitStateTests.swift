import Entitlements
import Proofs
import Service
import TestSupport
import Testing

/// The states of the door of react-native-iap and expo-iap, as rules.
@Suite struct IAPKitStateTests {
    private static let now = TestProofs.signedAt
    private static let past = now.adding(seconds: -1)
    private static let future = now.adding(seconds: 1)

    private static func purchase(
        _ type: ProductType? = .nonConsumable,
        until end: Timestamp? = nil,
        revoked: Bool = false,
        redeemed: Bool = false,
        owned: Bool = false,
        conflicting: Bool = false
    ) -> VerifiedPurchase {
        var purchase = VerifiedPurchase(claim, type, .sandbox, by: EntitlementFacts(), at: now)
        purchase.expiresAt = end
        purchase.isRevoked = revoked
        purchase.isRedeemed = redeemed
        purchase.isOwned = owned
        purchase.isConflicting = conflicting
        return purchase
    }

    private static let claim = Claim(
        app: "com.example.garden", origin: .appleSandbox, transactionIdentifier: "1",
        originalTransactionIdentifier: "1", productIdentifier: "gate", quantity: 1, purchaseDate: now,
        revocationDate: nil, signedAt: now, proofDigest: [], item: nil)

    private static let cases: [(purchase: VerifiedPurchase, state: IAPKitState)] = [
        (purchase(), IAPKitState.entitled),
        (purchase(nil), .entitled),
        (purchase(redeemed: true, owned: true), .entitled),
        (purchase(revoked: true), .canceled),
        (purchase(revoked: true, redeemed: true, owned: true), .canceled),
        (purchase(.consumable), .readyToConsume),
        (purchase(.consumable, redeemed: true, owned: true), .consumed),
        (purchase(.consumable, revoked: true, redeemed: true), .canceled),
        (purchase(.autoRenewableSubscription, until: future), .entitled),
        (purchase(.autoRenewableSubscription, until: now), .expired),
        (purchase(.autoRenewableSubscription, until: past, redeemed: true), .expired),
        (purchase(.autoRenewableSubscription, until: past, owned: true), .entitled),
        (purchase(.autoRenewableSubscription, until: future, revoked: true), .canceled),
        (purchase(.nonRenewingSubscription, until: past), .expired),
        (purchase(.nonRenewingSubscription, until: future), .entitled),
        (purchase(conflicting: true), .inauthentic),
        (purchase(.consumable, conflicting: true), .inauthentic),
    ]

    @Test(arguments: cases)
    func `the state follows from the proof and the ledger`(purchase: VerifiedPurchase, state: IAPKitState) {
        #expect(IAPKitState(of: purchase, at: Self.now) == state)
    }

    @Test func `only what the app may give is valid`() {
        #expect(IAPKitState.allCases.filter(\.isValid) == [.entitled, .pendingAcknowledgment, .readyToConsume])
    }

    @Test func `another product than the expected one is inauthentic`() {
        let purchase = Self.purchase()
        let answer = IAPKitAnswer(purchase, from: .apple, expecting: "gate", at: Self.now)
        #expect(
            answer.json.compactText
                == #"{"store":"apple","isValid":true,"state":"ENTITLED","productId":"gate","environment":"Sandbox"}"#)
        let other = IAPKitAnswer(purchase, from: .apple, expecting: "gate2", at: Self.now)
        #expect(other.state == .inauthentic && other.productIdentifier == "gate")
        #expect(IAPKitAnswer(purchase, from: .apple, expecting: nil, at: Self.now) == answer)
    }

    @Test(arguments: AppStoreEnvironment.allCases)
    func `only Apple's own environments are named`(environment: AppStoreEnvironment) {
        let purchase = VerifiedPurchase(Self.claim, nil, environment, by: EntitlementFacts(), at: Self.now)
        let isNamed = environment == .production || environment == .sandbox
        #expect(
            IAPKitAnswer(purchase, from: .apple, expecting: nil, at: Self.now).json.at("environment")
                == (isNamed ? JSONValue.string(environment.rawValue) : nil))
    }

    @Test func `a refusal that the operator or time can end is an error`() {
        for reason in ProofRefusal.Reason.allCases where IAPKitAnswer.isUnsigned(reason) {
            #expect(!reason.couldSucceedLater)
            #expect([.container, .chain, .extensions, .signature].contains(reason.step), "\(reason)")
        }
        #expect(!IAPKitAnswer.isUnsigned(.chainUntrusted))
        #expect(IAPKitAnswer.isUnsigned(.signatureInvalid))
        #expect(
            IAPKitAnswer.unsigned.json.compactText == #"{"store":"apple","isValid":false,"state":"INAUTHENTIC"}"#)
    }
}
