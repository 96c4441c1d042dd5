"""Learning: the portfolio environment, PPO, policies as files, and the pure measurement of what was learnt."""
