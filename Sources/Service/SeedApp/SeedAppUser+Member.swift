import Features
import Proofs

extension SeedAppUser {
    init(_ member: SeedAppMembers.Member, of user: User) {
        func chosen(_ collection: String) -> Int {
            member.profile.chosen.first { $0.collection == collection }?.number ?? 0
        }
        func owned(_ collection: String) -> [Int] {
            member.items.filter { $0.collection == collection }.map(\.number)
        }
        self.init(
            _id: DigestAlgorithm.sha256.digest(of: Array("\(user.issuer)\n\(user.name)".utf8)).prefix(12).hexadecimal,
            uid: user.name, phoneNumber: member.record.phoneNumber, email: member.record.email,
            FCMtoken: member.record.fcmToken, nick: member.profile.nickname ?? "", birth: member.record.birth,
            gender: member.record.gender, sesac: chosen(SeedAppRoutes.sprouts),
            sesacCollection: owned(SeedAppRoutes.sprouts), background: chosen(SeedAppRoutes.backgrounds),
            backgroundCollection: owned(SeedAppRoutes.backgrounds), transactionId: member.transactionIdentifiers,
            createdAt: member.record.joinedAt.rfc3339.replacing("Z", with: ".000Z"))
    }
}
