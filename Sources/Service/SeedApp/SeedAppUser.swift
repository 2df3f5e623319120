import Features
import Proofs

/// A member in the JSON of the seed's own app. Fields that Till does not use have the values of a new member.
struct SeedAppUser: Encodable {
    /// 24 hexadecimal digits, in the form of a document database's identifier.
    let _id: String
    let __v = 0
    /// The token's `sub`.
    let uid: String
    let phoneNumber: String
    let email: String
    let FCMtoken: String
    let nick: String
    let birth: String
    let gender: Int
    let study = ""
    let comment: [String] = []
    let reputation: [Int] = [0, 0, 0, 0, 0, 0, 0, 0, 0]
    let sesac: Int
    let sesacCollection: [Int]
    let background: Int
    let backgroundCollection: [Int]
    let purchaseToken: [String] = []
    let transactionId: [String]
    let reviewedBefore: [String] = []
    let reportedNum = 0
    let reportedUser: [String] = []
    let dodgepenalty = 0
    let dodgeNum = 0
    let ageMin = 18
    let ageMax = 65
    let searchable = 1
    /// RFC 3339 with milliseconds.
    let createdAt: String

    init(_ member: SeedAppMembers.Member, of user: User) {
        func chosen(_ collection: String) -> Int {
            member.profile.chosen.first { $0.collection == collection }?.number ?? 0
        }
        func owned(_ collection: String) -> [Int] {
            member.items.filter { $0.collection == collection }.map(\.number)
        }
        _id = DigestAlgorithm.sha256.digest(of: Array("\(user.issuer)\n\(user.name)".utf8)).prefix(12).hexadecimal
        uid = user.name
        phoneNumber = member.record.phoneNumber
        email = member.record.email
        FCMtoken = member.record.fcmToken
        nick = member.profile.nickname ?? ""
        birth = member.record.birth
        gender = member.record.gender
        sesac = chosen(SeedAppRoutes.sprouts)
        sesacCollection = owned(SeedAppRoutes.sprouts)
        background = chosen(SeedAppRoutes.backgrounds)
        backgroundCollection = owned(SeedAppRoutes.backgrounds)
        transactionId = member.transactionIdentifiers
        createdAt = member.record.joinedAt.rfc3339.replacing("Z", with: ".000Z")
    }
}
