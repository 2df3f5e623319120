import Features

extension EntranceResource {
    init(_ entrance: AccountService.Entrance) {
        self.init(account: AccountResource(entrance.account), tokens: TokensResource(entrance.tokens))
    }
}
