/// A member in the JSON of the seed's own app. Fields that Till does not use have the values of a new member.
package struct SeedAppUser: Codable, Sendable {
    /// 24 hexadecimal digits, in the form of a document database's identifier.
    let _id: String
    let __v: Int
    /// The token's `sub`.
    package let uid: String
    let phoneNumber: String
    package let email: String
    package let FCMtoken: String
    package let nick: String
    let birth: String
    let gender: Int
    let study: String
    package let comment: [String]
    let reputation: [Int]
    package let sesac: Int
    package let sesacCollection: [Int]
    package let background: Int
    package let backgroundCollection: [Int]
    let purchaseToken: [String]
    package let transactionId: [String]
    let reviewedBefore: [String]
    let reportedNum: Int
    let reportedUser: [String]
    let dodgepenalty: Int
    let dodgeNum: Int
    let ageMin: Int
    let ageMax: Int
    let searchable: Int
    /// RFC 3339 with milliseconds.
    package let createdAt: String

    init(
        _id: String,
        __v: Int = 0,
        uid: String,
        phoneNumber: String,
        email: String,
        FCMtoken: String,
        nick: String,
        birth: String,
        gender: Int,
        study: String = "",
        comment: [String] = [],
        reputation: [Int] = [0, 0, 0, 0, 0, 0, 0, 0, 0],
        sesac: Int,
        sesacCollection: [Int],
        background: Int,
        backgroundCollection: [Int],
        purchaseToken: [String] = [],
        transactionId: [String],
        reviewedBefore: [String] = [],
        reportedNum: Int = 0,
        reportedUser: [String] = [],
        dodgepenalty: Int = 0,
        dodgeNum: Int = 0,
        ageMin: Int = 18,
        ageMax: Int = 65,
        searchable: Int = 1,
        createdAt: String
    ) {
        self._id = _id
        self.__v = __v
        self.uid = uid
        self.phoneNumber = phoneNumber
        self.email = email
        self.FCMtoken = FCMtoken
        self.nick = nick
        self.birth = birth
        self.gender = gender
        self.study = study
        self.comment = comment
        self.reputation = reputation
        self.sesac = sesac
        self.sesacCollection = sesacCollection
        self.background = background
        self.backgroundCollection = backgroundCollection
        self.purchaseToken = purchaseToken
        self.transactionId = transactionId
        self.reviewedBefore = reviewedBefore
        self.reportedNum = reportedNum
        self.reportedUser = reportedUser
        self.dodgepenalty = dodgepenalty
        self.dodgeNum = dodgeNum
        self.ageMin = ageMin
        self.ageMax = ageMax
        self.searchable = searchable
        self.createdAt = createdAt
    }
}
