"""Example operations of publishing, one for each kind of access pattern; the playground offers them."""

from gateway import Example

EXAMPLES = (
    Example(
        title="The most liked posts",
        about=(
            "A leaderboard: scores are sort keys, so the top of the list is the end of an index. The likes "
            "next to it are the sum of the counter's shards."
        ),
        tab=True,
        query="""query TopPosts {
  topPosts(first: 5) {
    nodes {
      score
      post {
        title
        publishedAt
        likes
        author {
          penName
        }
      }
    }
  }
}
""",
    ),
    Example(
        title="A post with its comments",
        about="Post and comments share a partition and come from one Query; the author is one more read.",
        query="""query PostWithComments($postId: ID!) {
  post(postId: $postId) {
    title
    publishedAt
    author {
      penName
      bio
    }
    comments(first: 5) {
      nodes {
        createdAt
        body
      }
    }
  }
}
""",
        variables={"postId": "post-1001"},
        tenants={"initech": {"postId": "post-5001"}},
    ),
    Example(
        title="Posts of a category",
        about="A sparse index: it holds only published posts.",
        query="""query PostsOfCategory($category: ID!) {
  postsByCategory(category: $category, first: 5) {
    nodes {
      postId
      title
      publishedAt
    }
  }
}
""",
        variables={"category": "news"},
    ),
    Example(
        title="Like a post",
        about=(
            "A like and one shard of its counter in one transaction: many readers can like a "
            "post at the same time, none of them twice. Needs `editor`."
        ),
        query="""mutation LikePost($input: LikePostInput!) {
  likePost(input: $input) {
    like {
      likedAt
      post {
        title
        likes
      }
    }
    errors {
      code
      message
    }
  }
}
""",
        variables={"input": {"postId": "post-1001", "userId": "u-1001"}},
        tenants={
            "globex": {"input": {"postId": "post-1001", "userId": "u-1004"}},
            "initech": {"input": {"postId": "post-5001", "userId": "u-5001"}},
        },
    ),
)
