import Features

extension ProfileResource {
    init(_ profile: Profile) {
        self.init(nickname: profile.nickname, chosen: profile.chosen)
    }
}
